//! Streams that stand beside their sources under names of their own: what each would be called in the
//! scheme of the others.

/// Path of the stream, and the name that tells its options.
pub(crate) const LOOSE: &[(&str, &str)] = &[
    (
        "data/interop/datatypes/dtrm/tokenToInteger_01.exi",
        "tokenToInteger_01.exi%lx%i%%%%%data@interop@datatypes@dtrm@enumerationDTRM.xsd%token-integer",
    ),
    (
        "data/interop/builtInGrammar/xsitype/xsitype-profile-00.exi",
        "xsitype-profile-00.exi%%vi%%%%",
    ),
    (
        "data/interop/builtInGrammar/xsitype/xsitype-profile-01.exi",
        "xsitype-profile-01.exi%%vi%%%%",
    ),
    (
        "data/interop/header/user-defined-metadata.noxsd.xml.exi",
        "user-defined-metadata.noxsd.exi%%o%%%%",
    ),
    (
        "data/interop/schemaInformedGrammar/undeclaredProductions/xsiNilStrict-03.xml.exi",
        "xsiNilStrict-03.exi%%vi%%%%data@interop@schemaInformedGrammar@undeclaredProductions@nillable-01.xsd",
    ),
    (
        "data/interop/schemaInformedGrammar/undeclaredProductions/xsiNilDefault-03.xml.exi",
        "xsiNilDefault-03.exi%%i%%%%data@interop@schemaInformedGrammar@undeclaredProductions@nillable-01.xsd",
    ),
    (
        "data/interop/emptyBlock/emptyBlock.xml.exi",
        "emptyBlock.exi%%vic%%%1%data@interop@emptyBlock@emptyBlock.xsd",
    ),
    (
        "data/interop/emptyBlock/emptyBlock.xml.extraDeflate.exi",
        "emptyBlock.exi%%vic%%%1%data@interop@emptyBlock@emptyBlock.xsd",
    ),
    (
        "data/interop-profile/xsiType/xsiType-02_bitPacked.exi",
        "xsiType-02.exi%%vi%%%%",
    ),
    (
        "data/interop-profile/xsiType/xsiType-02_byteAligned.exi",
        "xsiType-02.exi%%via%%%%",
    ),
    (
        "data/interop-profile/builtInElementGrammars/prodsBeforeDisabling.xml.exi-bit",
        "prodsBeforeDisabling.exi%%i%%%%data@interop-profile@builtInElementGrammars@builtInElement.xsd",
    ),
    (
        "data/interop-profile/builtInElementGrammars/prodsBeforeDisabling.xml.exi-byte",
        "prodsBeforeDisabling.exi%%ia%%%%data@interop-profile@builtInElementGrammars@builtInElement.xsd",
    ),
];
