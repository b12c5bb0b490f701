//! What of a request is meant for this layer, read in one go.

use crate::wire::{Block, Number, Options};

/// What a request asks of this layer.
#[derive(Default)]
pub(super) struct Asks {
    pub(super) observe: Option<u32>,
    pub(super) hop_limit: Option<u32>,
    pub(super) block1: Option<Block>,
    pub(super) block2: Option<Block>,
    pub(super) size2: Option<u32>,
    pub(super) unwanted: Option<u32>,
    pub(super) echo: bool,
    pub(super) is_in_blocks: bool,
}

impl Asks {
    pub(super) fn of(options: &Options) -> Self {
        let mut asks = Self::default();
        for option in options.iter() {
            match option.number {
                Number::OBSERVE => asks.observe = Some(option.uint()),
                Number::HOP_LIMIT => asks.hop_limit = Some(option.uint()),
                Number::BLOCK1 => asks.block1 = Some(Block::of(option.uint())),
                Number::BLOCK2 => asks.block2 = Some(Block::of(option.uint())),
                Number::SIZE2 => asks.size2 = Some(option.uint()),
                Number::NO_RESPONSE => asks.unwanted = Some(option.uint()),
                Number::ECHO => asks.echo = true,
                _ => {}
            }
            asks.is_in_blocks |= matches!(
                option.number,
                Number::BLOCK1 | Number::BLOCK2 | Number::SIZE1
            );
        }
        asks
    }
}
