//! The highest request rate that the load client can reach, from measurements against a responder that does no work,
//! and from the blocks of the run.

use crate::record::{Block, Run};

/// The highest rate that the client can reach with a kind of load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClientLimit {
    /// The measured limit or the rate of the fastest block, whichever is higher, in requests per second.
    pub(super) rate: f64,
    /// Whether a block was faster than the measured limit. The real limit is then at least `rate`, but unknown.
    pub(super) beaten: bool,
}

/// Returns the client's limit for loads like those of `blocks`, taken from all blocks of the run with such a load;
/// `None` if no limit was measured for them.
pub(super) fn client_limit(run: &Run, blocks: &[&Block]) -> Option<ClientLimit> {
    let kind = |block: &Block| {
        let variant = run.header.variants.get(block.variant as usize);
        let connections = variant.map(|it| it.load(&run.header.scenario.load).connections);
        let body = block.load.bytes_body.checked_div(block.load.completed);
        (connections, body.map(body_class))
    };
    let kinds: Vec<_> = blocks.iter().map(|block| kind(block)).collect();
    let similar_blocks = || run.blocks.iter().filter(|it| kinds.contains(&kind(it)));
    let measured = similar_blocks()
        .map(|it| it.client.ceiling)
        .fold(0.0, f64::max);
    let fastest = similar_blocks()
        .filter_map(Block::throughput)
        .fold(0.0, f64::max);
    (measured > 0.0).then_some(ClientLimit {
        rate: measured.max(fastest),
        beaten: fastest > measured,
    })
}

/// Returns the size class of a body: the number of binary digits of `bytes`, its length in bytes. Bodies of one class
/// cost the client about the same.
pub(crate) fn body_class(bytes: u64) -> u32 {
    u64::BITS - bytes.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{run, set_rate};
    use super::*;
    use crate::record::Arm;

    fn limits(run: &Run) -> Vec<Option<ClientLimit>> {
        let of = |variant| {
            let own = run.blocks.iter().filter(|it| it.variant == variant);
            client_limit(run, &own.collect::<Vec<_>>())
        };
        vec![of(0), of(1)]
    }

    #[test]
    fn a_limit_holds_until_a_block_is_faster() {
        let measured = run(2, 4, |block| block.client.ceiling = 500.0);
        let limit = ClientLimit {
            rate: 500.0,
            beaten: false,
        };
        assert_eq!(limits(&measured), [Some(limit), Some(limit)]);
        let mut faster = measured;
        set_rate(&mut faster.blocks[1], 625.0);
        let limit = ClientLimit {
            rate: 625.0,
            beaten: true,
        };
        // The limit is a property of the client, so it holds for both variants, whichever reached it.
        assert_eq!(limits(&faster), [Some(limit), Some(limit)]);
    }

    #[test]
    fn loads_of_different_kinds_say_nothing_about_each_other() {
        let mut run = run(2, 4, |block| {
            block.client.ceiling = 500.0;
            if block.arm == Arm::Variant {
                set_rate(block, 600.0);
            }
        });
        run.header.variants[1].connections = Some(99);
        let beaten = |run: &Run| {
            limits(run)
                .into_iter()
                .map(|it| it.map(|it| it.beaten))
                .collect::<Vec<_>>()
        };
        assert_eq!(beaten(&run), [Some(false), Some(true)]);
        run.header.variants[1].connections = None;
        for block in &mut run.blocks {
            if block.arm == Arm::Variant {
                block.load.bytes_body *= 9;
            }
        }
        assert_eq!(beaten(&run), [Some(false), Some(true)]);
    }

    #[test]
    fn where_none_was_measured_none_is_known() {
        let run = run(2, 4, |block| block.client.ceiling = 0.0);
        assert_eq!(limits(&run), [None, None]);
    }
}
