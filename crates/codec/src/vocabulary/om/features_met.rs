//! `featureOfInterest`: a sampling feature given, or referred to by its address or within the document.

use super::context::Context;
use super::properties::{OfCoordinates, PlaceReader};
use super::time_object::{hash, is_id};
use super::{HREF, is_nil};
use crate::crs::Position;
use crate::error::DecodeError;
use crate::infoset::{Event, Pull};
use crate::limits::OM_FEATURES_MAX;
use alloc::string::String;

/// The features given last; others may refer to them.
#[derive(Default)]
pub(super) struct FeaturesMet {
    met: [Met; OM_FEATURES_MAX],
    next: usize,
}

/// A feature that was given.
#[derive(Default)]
struct Met {
    /// The hash of its `gml:id`; 0 for none.
    id: u64,
    name: String,
    position: Option<Position>,
}

impl FeaturesMet {
    fn keep(&mut self, id: u64, context: &Context) {
        let met = &mut self.met[self.next];
        self.next = (self.next + 1) % OM_FEATURES_MAX;
        met.id = id;
        met.name.clear();
        met.name.push_str(context.feature.get().unwrap_or_default());
        met.position = context.position;
    }

    fn find(&self, href: &str) -> Option<&Met> {
        let id = hash(href.strip_prefix('#')?);
        self.met.iter().find(|own| own.id == id && id != 0)
    }
}

/// Reads `featureOfInterest`: a reference, or a sampling feature with its position, which its identifier
/// names, or else a `gml:id` that is an address, or else the feature that it is a sample of.
pub(super) fn read_feature(
    pull: &mut impl Pull,
    context: &mut Context,
    features: &mut FeaturesMet,
) -> Result<(), DecodeError> {
    let mut depth = 1;
    let mut place = PlaceReader::default();
    let mut names_it = true;
    let (mut identifies_it, mut identified) = (false, false);
    let mut id = None;
    // Where the observation itself was made goes before where its feature is.
    let made_at = context.position.take();
    while depth > 0 {
        match pull.next()? {
            Event::Start(name) => {
                depth += 1;
                names_it = name.local == "sampledFeature" && !identified;
                identifies_it = name.local == "identifier";
                place.start(name.local);
            }
            Event::End => {
                depth -= 1;
                place.end();
            }
            Event::Attribute(HREF) if depth == 1 => refer(pull.text(), context, features),
            Event::Attribute(HREF) if names_it => set_sampled(pull.text(), context),
            Event::Attribute(name) if depth == 2 && is_id(name) => {
                id = Some(hash(pull.text()));
                // By the schema it is a name of XML, which has no colon.
                if pull.text().contains(':') {
                    context.feature.set(pull.text());
                    identified = true;
                }
            }
            Event::Attribute(name) => {
                if let Some(attribute) = OfCoordinates::named(name) {
                    place.attribute(attribute, pull);
                }
            }
            Event::Content if identifies_it => {
                set_feature(pull.text().trim_ascii(), context);
                (identifies_it, identified) = (false, true);
            }
            Event::Content => place.content(pull, context)?,
            _ => {}
        }
    }
    if let Some(id) = id {
        features.keep(id, context);
    }
    context.position = made_at.or(context.position);
    Ok(())
}

/// Takes what a reference names: a feature given before, or one of that address.
fn refer(href: &str, context: &mut Context, features: &FeaturesMet) {
    let Some(met) = features.find(href) else {
        return set_feature(href, context);
    };
    if !met.name.is_empty() {
        context.feature.set(&met.name);
    }
    context.position = met.position;
}

fn set_sampled(href: &str, context: &mut Context) {
    if !href.is_empty() {
        set_feature(href, context);
    }
}

fn set_feature(href: &str, context: &mut Context) {
    if !is_nil(href) {
        context.feature.set(href);
    }
}
