package weir.exi;

import com.siemens.ct.exi.core.EXIFactory;
import com.siemens.ct.exi.main.api.sax.EXIResult;
import com.siemens.ct.exi.main.api.sax.SAXFactory;
import com.siemens.ct.exi.main.util.FragmentUtilities;
import com.siemens.ct.exi.main.util.SkipRootElementXMLReader;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.DTDHandler;
import org.xml.sax.InputSource;
import org.xml.sax.XMLReader;

/** XML to EXI and back, by EXIficient and the parser that comes with Java. */
final class Coder {
    private static final String LEXICAL = "http://xml.org/sax/properties/lexical-handler";
    private static final String DECLARATIONS = "http://xml.org/sax/properties/declaration-handler";

    private Coder() {}

    static void encode(String from, String to, Settings settings) throws Exception {
        EXIFactory factory = settings.factory();
        try (InputStream in = open(from); OutputStream out = create(to)) {
            EXIResult result = new EXIResult(factory);
            result.setOutputStream(out);
            XMLReader reader = parser();
            reader.setContentHandler(result.getHandler());
            reader.setProperty(LEXICAL, result.getLexicalHandler());
            reader.setProperty(DECLARATIONS, result.getLexicalHandler());
            reader.setDTDHandler((DTDHandler) result.getHandler());
            if (settings.has("fragment")) {
                InputStream within = FragmentUtilities.getSurroundingRootInputStream(in);
                new SkipRootElementXMLReader(reader).parse(new InputSource(within));
            } else {
                reader.parse(new InputSource(in));
            }
        }
    }

    static void decode(String from, String to, Settings settings) throws Exception {
        EXIFactory factory = settings.factory();
        XmlText text = new XmlText();
        try (InputStream in = open(from)) {
            XMLReader reader = new SAXFactory(factory).createEXIReader();
            reader.setContentHandler(text);
            reader.setProperty(LEXICAL, text);
            reader.setProperty(DECLARATIONS, text);
            reader.parse(new InputSource(in));
        }
        Files.writeString(Path.of(to), text.toString());
    }

    /** A parser that fetches nothing and joins nothing that it need not. */
    private static XMLReader parser() throws Exception {
        SAXParserFactory factory = SAXParserFactory.newInstance();
        factory.setNamespaceAware(true);
        XMLReader reader = factory.newSAXParser().getXMLReader();
        reader.setEntityResolver((publicId, systemId) -> new InputSource(new StringReader("")));
        return reader;
    }

    private static InputStream open(String file) throws Exception {
        return new BufferedInputStream(Files.newInputStream(Path.of(file)));
    }

    private static OutputStream create(String file) throws Exception {
        return new BufferedOutputStream(Files.newOutputStream(Path.of(file)));
    }
}
