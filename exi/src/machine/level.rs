//! Productions whose event codes have two or three parts: which of them there are follows from the
//! options and the kind of the state (EXI 1.0 sections 8.3, 8.4.3 and 8.5.4.4).

use crate::bits::width;
use crate::options::Options;

/// What the second part of an event code leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Second {
    EndElement,
    XsiType,
    XsiNil,
    /// AT(*).
    Attribute,
    /// AT(qname) and AT(*) with untyped values: a third part follows.
    AttributeUntyped,
    Namespace,
    SelfContained,
    /// SE(*).
    StartElement,
    /// CH with an untyped value.
    Characters,
    EntityReference,
    DocType,
    /// CM and PI: a third part follows if both are there.
    Miscellany,
    Comment,
    ProcessingInstruction,
}

impl Second {
    /// The event in words, for errors.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::EndElement => "the end of the element",
            Self::XsiType => "xsi:type",
            Self::XsiNil => "xsi:nil",
            Self::Attribute | Self::AttributeUntyped => "an attribute",
            Self::Namespace => "a namespace declaration",
            Self::SelfContained => "a self-contained element",
            Self::StartElement => "an element",
            Self::Characters => "characters",
            Self::EntityReference => "an entity reference",
            Self::DocType => "a document type declaration",
            Self::Miscellany | Self::Comment => "a comment",
            Self::ProcessingInstruction => "a processing instruction",
        }
    }
}

const KINDS: usize = 14;

/// The second parts of one kind of state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    kinds: [Second; KINDS],
    codes: [u8; KINDS],
    len: u8,
}

const ABSENT: u8 = u8::MAX;

impl Level {
    fn new(kinds: &[(Second, bool)]) -> Self {
        let mut level = Self {
            kinds: [Second::EndElement; KINDS],
            codes: [ABSENT; KINDS],
            len: 0,
        };
        for (kind, _) in kinds.iter().filter(|(_, present)| *present) {
            level.kinds[level.len as usize] = *kind;
            // [EXI-8.3-2]
            level.codes[*kind as usize] = level.len;
            level.len += 1;
        }
        level
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bits of the second part.
    #[inline]
    pub(crate) fn width(&self) -> u32 {
        width(u32::from(self.len))
    }

    pub(crate) fn kind(&self, code: u32) -> Option<Second> {
        self.kinds[..self.len as usize].get(code as usize).copied()
    }

    pub(crate) fn code(&self, kind: Second) -> Option<u32> {
        let code = self.codes[kind as usize];
        (code != ABSENT).then_some(u32::from(code))
    }
}

/// All kinds of states.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    pub(crate) start_tag: Level,
    pub(crate) content: Level,
    pub(crate) doc_content: Level,
    /// DocEnd and FragmentContent.
    pub(crate) outside: Level,
    /// The third part below [`Second::Miscellany`].
    pub(crate) miscellany: Level,
    loose: [Level; 8],
    strict: [Level; 4],
}

impl Levels {
    pub(crate) fn new(options: &Options) -> Self {
        let keep = Keep::new(options);
        let combos = |index: usize| [index & 1 != 0, index & 2 != 0, index & 4 != 0];
        Self {
            start_tag: Level::new(&keep.start_tag()),
            content: Level::new(&keep.children(true)),
            doc_content: Level::new(&[
                (Second::DocType, keep.dtd),
                (Second::Miscellany, keep.miscellany()),
            ]),
            outside: Level::new(&keep.comments_and_instructions()),
            miscellany: Level::new(&keep.comments_and_instructions()),
            loose: core::array::from_fn(|index| {
                let [no_end, first, attributes] = combos(index);
                Level::new(&keep.informed(no_end, first, attributes))
            }),
            strict: core::array::from_fn(|index| {
                let [castable, nillable, _] = combos(index);
                Level::new(&[(Second::XsiType, castable), (Second::XsiNil, nillable)])
            }),
        }
    }

    #[inline]
    pub(crate) fn loose(&self, no_end: bool, first: bool, attributes: bool) -> &Level {
        &self.loose[usize::from(no_end) | usize::from(first) << 1 | usize::from(attributes) << 2]
    }

    #[inline]
    pub(crate) fn strict(&self, castable: bool, nillable: bool) -> &Level {
        &self.strict[usize::from(castable) | usize::from(nillable) << 1]
    }
}

/// Which events the options keep. EXI processors MUST prune the productions of all others
/// (section 8.3); strict streams have none of these (section 5.4).
#[derive(Clone, Copy)]
struct Keep {
    comments: bool,
    instructions: bool,
    dtd: bool,
    prefixes: bool,
    self_contained: bool,
}

impl Keep {
    fn new(options: &Options) -> Self {
        // [EXI-6.3-1] [EXI-8.3-1]
        let (preserve, loose) = (options.preserve, !options.strict);
        Self {
            comments: preserve.comments && loose,
            instructions: preserve.processing_instructions && loose,
            dtd: preserve.dtd && loose,
            prefixes: preserve.prefixes && loose,
            self_contained: options.self_contained && loose,
        }
    }

    fn miscellany(self) -> bool {
        self.comments || self.instructions
    }

    fn comments_and_instructions(self) -> [(Second, bool); 2] {
        [
            (Second::Comment, self.comments),
            (Second::ProcessingInstruction, self.instructions),
        ]
    }

    fn children(self, present: bool) -> [(Second, bool); 4] {
        [
            (Second::StartElement, present),
            (Second::Characters, present),
            (Second::EntityReference, self.dtd),
            (Second::Miscellany, self.miscellany()),
        ]
    }

    /// StartTagContent (section 8.4.3).
    fn start_tag(self) -> [(Second, bool); 8] {
        let [element, characters, reference, miscellany] = self.children(true);
        [
            (Second::EndElement, true),
            (Second::Attribute, true),
            (Second::Namespace, self.prefixes),
            (Second::SelfContained, self.self_contained),
            element,
            characters,
            reference,
            miscellany,
        ]
    }

    /// Schema-informed states when strict is false (section 8.5.4.4.1).
    fn informed(self, no_end: bool, first: bool, attributes: bool) -> [(Second, bool); 11] {
        let [element, characters, reference, miscellany] = self.children(true);
        [
            (Second::EndElement, no_end),
            (Second::XsiType, first),
            (Second::XsiNil, first),
            (Second::Attribute, attributes),
            (Second::AttributeUntyped, attributes),
            (Second::Namespace, first && self.prefixes),
            (Second::SelfContained, first && self.self_contained),
            element,
            characters,
            reference,
            miscellany,
        ]
    }
}
