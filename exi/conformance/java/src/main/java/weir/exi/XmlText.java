package weir.exi;

import java.util.ArrayList;
import java.util.List;
import org.xml.sax.Attributes;
import org.xml.sax.ext.DefaultHandler2;

/** Writes what a decoder tells as XML, adding nothing: no declaration, no line ends. */
final class XmlText extends DefaultHandler2 {
    private final StringBuilder out = new StringBuilder();
    private final List<String[]> prefixes = new ArrayList<>();
    private StringBuilder subset;

    @Override
    public String toString() {
        return out.toString();
    }

    @Override
    public void startPrefixMapping(String prefix, String uri) {
        prefixes.add(new String[] {prefix, uri});
    }

    @Override
    public void startElement(String uri, String local, String raw, Attributes attributes) {
        out.append('<').append(raw);
        for (String[] mapping : prefixes) {
            String name = mapping[0].isEmpty() ? "xmlns" : "xmlns:" + mapping[0];
            attribute(name, mapping[1]);
        }
        prefixes.clear();
        for (int index = 0; index < attributes.getLength(); index++) {
            attribute(attributes.getQName(index), attributes.getValue(index));
        }
        out.append('>');
    }

    @Override
    public void endElement(String uri, String local, String raw) {
        out.append("</").append(raw).append('>');
    }

    private void attribute(String name, String value) {
        out.append(' ').append(name).append("=\"");
        for (int index = 0; index < value.length(); index++) {
            char letter = value.charAt(index);
            switch (letter) {
                case '"': out.append("&quot;"); break;
                case '\t': out.append("&#9;"); break;
                case '\n': out.append("&#10;"); break;
                default: escaped(letter);
            }
        }
        out.append('"');
    }

    private void escaped(char letter) {
        switch (letter) {
            case '<': out.append("&lt;"); break;
            case '>': out.append("&gt;"); break;
            case '&': out.append("&amp;"); break;
            case '\r': out.append("&#13;"); break;
            default: out.append(letter);
        }
    }

    @Override
    public void characters(char[] letters, int start, int length) {
        for (int index = start; index < start + length; index++) {
            escaped(letters[index]);
        }
    }

    @Override
    public void comment(char[] letters, int start, int length) {
        out.append("<!--").append(letters, start, length).append("-->");
    }

    @Override
    public void processingInstruction(String target, String data) {
        out.append("<?").append(target).append(data == null || data.isEmpty() ? "" : " " + data).append("?>");
    }

    @Override
    public void skippedEntity(String name) {
        out.append('&').append(name).append(';');
    }

    @Override
    public void startDTD(String name, String publicId, String systemId) {
        out.append("<!DOCTYPE ").append(name);
        if (publicId != null) {
            out.append(" PUBLIC \"").append(publicId).append("\" \"").append(systemId).append('"');
        } else if (systemId != null) {
            out.append(" SYSTEM \"").append(systemId).append('"');
        }
        subset = new StringBuilder();
    }

    @Override
    public void internalEntityDecl(String name, String value) {
        if (!name.startsWith("%")) {
            subset.append("<!ENTITY ").append(name).append(" \"").append(value.replace("\"", "&#34;")).append("\">");
        }
    }

    @Override
    public void endDTD() {
        if (subset.length() > 0) {
            out.append(" [").append(subset).append(']');
        }
        out.append('>');
    }
}
