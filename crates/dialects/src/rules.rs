//! Code that the rules of all dialects share if they compute sizes themselves.

/// Implements the output methods of `Rules` for a type that stores its output settings in the field `output` and
/// derives nothing else from them.
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
