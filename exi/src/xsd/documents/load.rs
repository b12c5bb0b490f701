//! Loading documents and those that they refer to.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::{HashMap, HashSet};

use super::{Document, Documents, Place, Text};
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::known;
use crate::xsd::limits;
use crate::xsd::loader::{Loader, Reference, ReferenceKind};
use crate::xsd::name::XML;
use crate::xsd::read::{failed, read};
use crate::xsd::tree::NodeId;

/// A document that is given, not looked for.
#[derive(Debug, Clone, Copy)]
pub(in crate::xsd) struct Source<'a> {
    pub(in crate::xsd) location: &'a str,
    pub(in crate::xsd) bytes: &'a [u8],
}

/// What the XML namespace declares, for schemas that import it from nowhere.
const XML_ATTRIBUTES: &str = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"
 targetNamespace="http://www.w3.org/XML/1998/namespace" xmlns:xml="http://www.w3.org/XML/1998/namespace">
<xs:attribute name="base" type="xs:anyURI"/>
<xs:attribute name="id" type="xs:ID"/>
<xs:attribute name="lang" type="xs:language"/>
<xs:attribute name="space"><xs:simpleType><xs:restriction base="xs:NCName">
<xs:enumeration value="default"/><xs:enumeration value="preserve"/>
</xs:restriction></xs:simpleType></xs:attribute>
<xs:attributeGroup name="specialAttrs">
<xs:attribute ref="xml:base"/><xs:attribute ref="xml:id"/><xs:attribute ref="xml:lang"/>
<xs:attribute ref="xml:space"/></xs:attributeGroup>
</xs:schema>"#;

/// Loads all that the given documents refer to.
pub(in crate::xsd) fn load(
    sources: &[Source<'_>],
    loader: &mut dyn Loader,
) -> Result<Documents, XsdError> {
    let mut loading = Loading {
        documents: Documents::default(),
        loader,
        texts: HashMap::new(),
        known: HashSet::new(),
    };
    for source in sources {
        let text = loading.read(source.location, source.bytes.to_vec())?;
        loading.add(&text, None)?;
    }
    Ok(loading.documents)
}

struct Loading<'l> {
    documents: Documents,
    loader: &'l mut dyn Loader,
    texts: HashMap<String, Rc<Text>>,
    /// Documents by (text, target namespace).
    known: HashSet<(*const Text, Rc<str>)>,
}

impl Loading<'_> {
    /// The text of a location; the same text under two locations is one.
    fn read(&mut self, location: &str, bytes: Vec<u8>) -> Result<Rc<Text>, XsdError> {
        if let Some(text) = self.texts.get(location) {
            return Ok(Rc::clone(text));
        }
        let same = self.texts.values().find(|text| text.bytes == bytes);
        let text = match same {
            Some(text) => Rc::clone(text),
            None => Rc::new(Text {
                location: location.to_string(),
                tree: read(location, &bytes)?,
                bytes,
            }),
        };
        self.texts.insert(location.to_string(), Rc::clone(&text));
        Ok(text)
    }

    /// Adds a document, for the namespace of the one that includes it if it has none.
    fn add(&mut self, text: &Rc<Text>, includer: Option<&Rc<str>>) -> Result<(), XsdError> {
        let root = NodeId::ROOT;
        let own = text.tree.value(root, "targetNamespace").unwrap_or_default();
        let chameleon = own.is_empty() && includer.is_some_and(|uri| !uri.is_empty());
        let target: Rc<str> = match includer {
            Some(uri) if chameleon => Rc::clone(uri),
            _ => own.into(),
        };
        let key = (Rc::as_ptr(text), Rc::clone(&target));
        if !self.known.insert(key) {
            return Ok(());
        }
        let index = self.documents.documents.len();
        if index == limits::DOCUMENTS {
            let rule = Rule::OverLimit("documents");
            return Err(failed(&text.location, (0, 0), rule));
        }
        let qualified = |name| text.tree.value(root, name).map(str::trim) == Some("qualified");
        self.documents.documents.push(Document {
            text: Rc::clone(text),
            target,
            chameleon,
            elements_qualified: qualified("elementFormDefault"),
            attributes_qualified: qualified("attributeFormDefault"),
        });
        let schema = Place {
            document: index as u32,
            node: root,
        };
        self.check(schema, None)?;
        self.contents(schema)
    }

    /// Looks for what no schema document may hold, below an element too.
    fn check(&self, place: Place, parent: Option<&str>) -> Result<(), XsdError> {
        let (documents, tag) = (&self.documents, self.documents.tag(place));
        let tree = documents.tree(place);
        let refers = tree.value(place.node, "ref").is_some();
        let stands = known::Place { parent, refers };
        let known = known::attributes(stands, tag);
        for name in tree.attribute_names(place.node) {
            if name != "id" && !known.contains(&name) {
                return Err(documents.error(place, Rule::UnknownAttribute(name.to_string())));
            }
        }
        for name in ["elementFormDefault", "attributeFormDefault"] {
            if tag == "schema"
                && !matches!(
                    documents.value(place, name),
                    None | Some("qualified" | "unqualified")
                )
            {
                return Err(documents.wrong(place, name, "qualified or unqualified"));
            }
        }
        let allowed = known::children(stands, tag);
        for child in documents.children(place) {
            let name = tree.name(child.node);
            let known = allowed.iter().any(|list| list.contains(&&*name.local));
            if !known || !name.is_xsd(&name.local) {
                let parent = tag.to_string();
                let element = match name.is_xsd(&name.local) {
                    true => alloc::format!("xs:{}", name.local),
                    false => name.to_string(),
                };
                return Err(documents.error(child, Rule::UnknownElement { element, parent }));
            }
            self.check(child, Some(tag))?;
        }
        Ok(())
    }

    fn contents(&mut self, schema: Place) -> Result<(), XsdError> {
        for place in self.documents.children(schema) {
            match self.documents.tag(place) {
                "include" => self.include(place, ReferenceKind::Include)?,
                "import" => self.import(place)?,
                "redefine" => {
                    self.include(place, ReferenceKind::Redefine)?;
                    for child in self.documents.children(place) {
                        self.documents.define(child, true)?;
                    }
                }
                _ => self.documents.define(place, false)?,
            }
        }
        Ok(())
    }

    fn include(&mut self, place: Place, kind: ReferenceKind) -> Result<(), XsdError> {
        let location = self
            .documents
            .required(place, "schemaLocation")?
            .to_string();
        let target = self.documents.target(place);
        let Some(text) = self.fetch(place, kind, Some(&target), Some(&location))? else {
            return Err(self.documents.error(place, Rule::NotFound(location)));
        };
        let own = text.tree.value(NodeId::ROOT, "targetNamespace");
        if own.is_some_and(|own| own != &*target) {
            return Err(self.wrong_namespace(place, own, &target));
        }
        self.add(&text, Some(&target))
    }

    fn import(&mut self, place: Place) -> Result<(), XsdError> {
        let namespace = self.documents.value(place, "namespace").unwrap_or_default();
        let namespace: Rc<str> = namespace.into();
        let location = self.documents.value(place, "schemaLocation");
        let location = location.map(ToString::to_string);
        let kind = ReferenceKind::Import;
        let found = self.fetch(place, kind, Some(&namespace), location.as_deref())?;
        let text = match found {
            Some(text) => text,
            None if &*namespace == XML => self.read(XML, XML_ATTRIBUTES.into())?,
            None => {
                let location = location.unwrap_or_default();
                if !location.is_empty() {
                    let rule = Rule::NotFound(location.clone());
                    self.loader.missed(self.documents.error(place, rule))?;
                }
                self.documents.miss(&namespace, location);
                return Ok(());
            }
        };
        let own = text.tree.value(NodeId::ROOT, "targetNamespace");
        if own.unwrap_or_default() != &*namespace {
            return Err(self.wrong_namespace(place, own, &namespace));
        }
        self.add(&text, None)
    }

    fn wrong_namespace(&self, place: Place, found: Option<&str>, expected: &str) -> XsdError {
        let rule = Rule::WrongNamespace {
            found: found.unwrap_or_default().to_string(),
            expected: expected.to_string(),
        };
        self.documents.error(place, rule)
    }

    /// Asks the loader, unless the location is known.
    fn fetch(
        &mut self,
        place: Place,
        kind: ReferenceKind,
        namespace: Option<&str>,
        location: Option<&str>,
    ) -> Result<Option<Rc<Text>>, XsdError> {
        let base = self.documents.document(place).text.location.clone();
        let reference = Reference {
            kind,
            namespace: namespace.unwrap_or_default(),
            location,
            base: &base,
        };
        let Some(location) = self.loader.locate(&reference) else {
            return Ok(None);
        };
        if let Some(text) = self.texts.get(&location) {
            return Ok(Some(Rc::clone(text)));
        }
        match self.loader.load(&location) {
            Some(bytes) => self.read(&location, bytes).map(Some),
            None => Ok(None),
        }
    }
}
