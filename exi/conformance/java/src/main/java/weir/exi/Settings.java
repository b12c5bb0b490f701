package weir.exi;

import com.siemens.ct.exi.core.CodingMode;
import com.siemens.ct.exi.core.EXIFactory;
import com.siemens.ct.exi.core.EncodingOptions;
import com.siemens.ct.exi.core.FidelityOptions;
import com.siemens.ct.exi.core.exceptions.EXIException;
import com.siemens.ct.exi.core.grammars.Grammars;
import com.siemens.ct.exi.core.helpers.DefaultEXIFactory;
import com.siemens.ct.exi.grammars.GrammarFactory;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.xml.namespace.QName;

/** The options of a job: {@code name=value}, or {@code name} alone. */
final class Settings {
    /** Grammars by schema file: to make them costs more than most jobs. */
    private static final Map<String, Grammars> KNOWN = new HashMap<>();

    private final Map<String, String> options = new LinkedHashMap<>();

    static Settings of(String[] fields, int from) {
        Settings settings = new Settings();
        for (int index = from; index < fields.length; index++) {
            String[] pair = fields[index].split("=", 2);
            settings.options.put(pair[0], pair.length == 2 ? pair[1] : "");
        }
        return settings;
    }

    boolean has(String name) {
        return options.containsKey(name);
    }

    EXIFactory factory() throws EXIException {
        EXIFactory factory = DefaultEXIFactory.newInstance();
        factory.setFidelityOptions(fidelity());
        factory.setCodingMode(alignment());
        factory.setFragment(has("fragment"));
        Grammars grammars = grammars();
        if (grammars != null) {
            factory.setGrammars(grammars);
        }
        factory.setSchemaIdResolver(id -> id == null || grammars == null ? noGrammars(id) : grammars);
        limits(factory);
        profile(factory);
        names(factory);
        header(factory.getEncodingOptions());
        return factory;
    }

    private static Grammars noGrammars(String id) throws EXIException {
        GrammarFactory factory = GrammarFactory.newInstance();
        return "".equals(id) ? factory.createXSDTypesOnlyGrammars() : factory.createSchemaLessGrammars();
    }

    private FidelityOptions fidelity() throws EXIException {
        FidelityOptions fidelity = has("strict") ? FidelityOptions.createStrict() : FidelityOptions.createDefault();
        for (char letter : options.getOrDefault("preserve", "").toCharArray()) {
            fidelity.setFidelity(feature(letter), true);
        }
        if (has("selfContained")) {
            fidelity.setFidelity(FidelityOptions.FEATURE_SC, true);
        }
        return fidelity;
    }

    private static String feature(char letter) {
        switch (letter) {
            case 'c': return FidelityOptions.FEATURE_COMMENT;
            case 'd': return FidelityOptions.FEATURE_DTD;
            case 'l': return FidelityOptions.FEATURE_LEXICAL_VALUE;
            case 'p': return FidelityOptions.FEATURE_PI;
            case 'x': return FidelityOptions.FEATURE_PREFIX;
            default: throw new IllegalArgumentException("preserve " + letter);
        }
    }

    private CodingMode alignment() {
        switch (options.getOrDefault("alignment", "bit")) {
            case "bit": return CodingMode.BIT_PACKED;
            case "byte": return CodingMode.BYTE_PACKED;
            case "precompress": return CodingMode.PRE_COMPRESSION;
            case "compress": return CodingMode.COMPRESSION;
            default: throw new IllegalArgumentException("alignment");
        }
    }

    private Grammars grammars() throws EXIException {
        String schema = options.get("schema");
        if (schema == null) {
            return null;
        }
        Grammars known = KNOWN.get(schema);
        if (known == null) {
            GrammarFactory factory = GrammarFactory.newInstance();
            known = schema.isEmpty() ? factory.createXSDTypesOnlyGrammars() : factory.createGrammars(schema);
            known.setSchemaId(schema);
            KNOWN.put(schema, known);
        }
        return known;
    }

    private void limits(EXIFactory factory) {
        if (has("blockSize")) {
            factory.setBlockSize(number("blockSize"));
        }
        if (has("valueMaxLength")) {
            factory.setValueMaxLength(number("valueMaxLength"));
        }
        if (has("valueCapacity")) {
            factory.setValuePartitionCapacity(number("valueCapacity"));
        }
    }

    private void profile(EXIFactory factory) {
        if (has("noLocalValues")) {
            factory.setLocalValuePartitions(false);
        }
        if (has("builtInElementGrammars")) {
            factory.setMaximumNumberOfBuiltInElementGrammars(number("builtInElementGrammars"));
        }
        if (has("builtInProductions")) {
            factory.setMaximumNumberOfBuiltInProductions(number("builtInProductions"));
        }
    }

    private int number(String name) {
        return Integer.parseInt(options.get(name));
    }

    private void names(EXIFactory factory) {
        if (has("selfContained")) {
            factory.setSelfContainedElements(qnames(options.get("selfContained"), 0, 1));
        }
        if (has("dtrm")) {
            String pairs = options.get("dtrm");
            factory.setDatatypeRepresentationMap(qnames(pairs, 0, 2), qnames(pairs, 1, 2));
        }
    }

    private static QName[] qnames(String list, int first, int step) {
        String[] names = list.isEmpty() ? new String[0] : list.split(",");
        QName[] chosen = new QName[names.length / step];
        for (int index = 0; index < chosen.length; index++) {
            chosen[index] = QName.valueOf(names[index * step + first]);
        }
        return chosen;
    }

    private void header(EncodingOptions header) throws EXIException {
        set(header, "cookie", EncodingOptions.INCLUDE_COOKIE);
        set(header, "header", EncodingOptions.INCLUDE_OPTIONS);
        set(header, "schemaId", EncodingOptions.INCLUDE_SCHEMA_ID);
        set(header, "header", EncodingOptions.INCLUDE_PROFILE_VALUES);
        set(header, "references", EncodingOptions.RETAIN_ENTITY_REFERENCE);
        set(header, "insignificantNil", EncodingOptions.INCLUDE_INSIGNIFICANT_XSI_NIL);
        set(header, "schemaLocation", EncodingOptions.INCLUDE_XSI_SCHEMALOCATION);
        set(header, "utc", EncodingOptions.UTC_TIME);
        set(header, "canonical", EncodingOptions.CANONICAL_EXI);
        if (has("canonical") && !has("header")) {
            header.unsetOption(EncodingOptions.INCLUDE_OPTIONS);
        }
    }

    private void set(EncodingOptions header, String name, String option) throws EXIException {
        if (has(name)) {
            header.setOption(option);
        }
    }
}
