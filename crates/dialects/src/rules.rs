//! What the rules of all dialects with an arithmetic of their own have in common.

/// In an `impl Rules`: how the result is written is in the field `output`, and nothing else depends on it.
macro_rules! kept_output {
    () => {
        fn output(&self) -> &andon_recipe::Output {
            &self.output
        }

        fn with_output(
            &self,
            output: andon_recipe::Output,
        ) -> std::sync::Arc<dyn andon_recipe::Rules> {
            std::sync::Arc::new(Self {
                output,
                ..self.clone()
            })
        }
    };
}

pub(crate) use kept_output;
