package weir;

import com.siemens.ct.exi.core.CodingMode;
import com.siemens.ct.exi.core.EXIFactory;
import com.siemens.ct.exi.core.EncodingOptions;
import com.siemens.ct.exi.core.helpers.DefaultEXIFactory;
import com.siemens.ct.exi.grammars.GrammarFactory;
import com.siemens.ct.exi.main.api.sax.EXIResult;
import com.siemens.ct.exi.main.api.sax.EXISource;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.ContentHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.XMLReader;
import org.xml.sax.helpers.AttributesImpl;
import org.xml.sax.helpers.DefaultHandler;

/**
 * EXIficient measured in its own steady state, one job a line of standard input:
 *
 * <pre>
 * load PATH                      the document all further jobs are about
 * schema PATH                    the schema of strict jobs, or "schema" alone for none
 * size MODE                      -> "ok BYTES"
 * measure MODE WORK MILLISECONDS -> "ok STATE us us us ..." (ten samples)
 * </pre>
 *
 * MODE is exi, exi-byte, exi-pre, exi-c, exi-s or exi-sc, or sax, which is the JDK's own XML parser. WORK is parse
 * (EXI to SAX), serialize (SAX events at hand to EXI) or from-xml (XML to EXI). Times are the working thread's
 * processor time: the compiler's and the collector's threads are not counted, which favours this side.
 */
public final class Bench {
  private static final int K = 10;
  private static final double COV_MAX = 0.05;
  private static final long SAMPLE_NS_MIN = 2_000_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private byte[] xml = new byte[0];
  private String schema;
  private final Recorder events = new Recorder();

  public static void main(String[] arguments) throws IOException {
    Bench bench = new Bench();
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    out.println("ok " + version() + " Java " + Runtime.version());
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        out.println("ok " + bench.answer(line));
      } catch (Exception | StackOverflowError error) {
        out.println("error " + String.valueOf(error).replace('\n', ' '));
      }
    }
  }

  private static String version() {
    String version = EXISource.class.getPackage().getImplementationVersion();
    return "EXIficient " + (version == null ? "1.0.7" : version);
  }

  private String answer(String line) throws Exception {
    String[] job = line.split(" ");
    String rest = line.substring(job[0].length()).trim();
    switch (job[0]) {
      case "load":
        xml = Files.readAllBytes(Path.of(rest));
        events.clear();
        parse(events);
        return "";
      case "schema":
        schema = rest.isEmpty() ? null : rest;
        return "";
      case "size":
        return String.valueOf(encoded(job[1]).length);
      case "measure":
        return measure(work(job[1], job[2]), Long.parseLong(job[3]) * 1_000_000);
      default:
        throw new IllegalArgumentException("no job " + job[0]);
    }
  }

  /** What is measured. */
  private interface Work {
    void run() throws Exception;
  }

  private Work work(String mode, String work) throws Exception {
    if (mode.equals("sax")) return () -> parse(new Sink());
    EXIFactory factory = factory(mode);
    switch (work) {
      case "parse":
        byte[] exi = encoded(mode);
        return () -> {
          XMLReader reader = new EXISource(factory).getXMLReader();
          reader.setContentHandler(new Sink());
          reader.parse(new InputSource(new ByteArrayInputStream(exi)));
        };
      case "serialize":
        return () -> events.replay(handler(factory, new ByteArrayOutputStream(xml.length / 4 + 64)));
      case "from-xml":
        return () -> parse(handler(factory, new ByteArrayOutputStream(xml.length / 4 + 64)));
      default:
        throw new IllegalArgumentException("no work " + work);
    }
  }

  private EXIFactory factory(String mode) throws Exception {
    EXIFactory factory = DefaultEXIFactory.newInstance();
    // Unasked it leaves these attributes out, which are values like others to whom it is compared with.
    factory.getEncodingOptions().setOption(EncodingOptions.INCLUDE_XSI_SCHEMALOCATION);
    switch (mode) {
      case "exi":
        break;
      case "exi-byte":
        factory.setCodingMode(CodingMode.BYTE_PACKED);
        break;
      case "exi-pre":
        factory.setCodingMode(CodingMode.PRE_COMPRESSION);
        break;
      case "exi-c":
        factory.setCodingMode(CodingMode.COMPRESSION);
        break;
      case "exi-sc":
        factory.setCodingMode(CodingMode.COMPRESSION);
        inform(factory);
        break;
      case "exi-s":
        inform(factory);
        break;
      default:
        throw new IllegalArgumentException("no mode " + mode);
    }
    return factory;
  }

  private void inform(EXIFactory factory) throws Exception {
    if (schema == null) throw new IllegalArgumentException("no schema");
    factory.setGrammars(GrammarFactory.newInstance().createGrammars(schema));
    factory.setFidelityOptions(com.siemens.ct.exi.core.FidelityOptions.createStrict());
  }

  private static ContentHandler handler(EXIFactory factory, OutputStream out) throws Exception {
    EXIResult result = new EXIResult(factory);
    result.setOutputStream(out);
    return result.getHandler();
  }

  private byte[] encoded(String mode) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    parse(handler(factory(mode), out));
    return out.toByteArray();
  }

  private void parse(ContentHandler handler) throws SAXException, IOException, ParserConfigurationException {
    SAXParserFactory parsers = SAXParserFactory.newInstance();
    parsers.setNamespaceAware(true);
    XMLReader reader = parsers.newSAXParser().getXMLReader();
    reader.setContentHandler(handler);
    reader.parse(new InputSource(new ByteArrayInputStream(xml)));
  }

  /**
   * Ten samples in a row: of those that vary by less than the bound the fastest, since code that is interpreted yet may be
   * steady too; where none are, those that vary least.
   */
  private static String measure(Work work, long budget) throws Exception {
    int calls = callsPerSample(work);
    long end = THREADS.getCurrentThreadCpuTime() + budget;
    Deque<Double> window = new ArrayDeque<>();
    List<Double> best = List.of();
    double bestCov = Double.MAX_VALUE;
    double bestMean = Double.MAX_VALUE;
    while (true) {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < calls; i++) work.run();
      long now = THREADS.getCurrentThreadCpuTime();
      if (window.size() == K) window.removeFirst();
      window.addLast((now - start) / 1e3 / calls);
      if (window.size() < K) continue;
      double cov = cov(window);
      double mean = mean(window);
      boolean better = cov < COV_MAX && bestCov < COV_MAX ? mean < bestMean : cov < bestCov;
      if (better) {
        bestCov = cov;
        bestMean = mean;
        best = new ArrayList<>(window);
      }
      // The whole budget is spent: a steady window may come before the compiler is done.
      if (now > end) break;
    }
    StringBuilder answer = new StringBuilder(bestCov < COV_MAX ? "steady" : "unsteady");
    for (double us : best) answer.append(' ').append(us);
    return answer.toString();
  }

  private static int callsPerSample(Work work) throws Exception {
    int calls = 1;
    while (true) {
      long start = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < calls; i++) work.run();
      long spent = THREADS.getCurrentThreadCpuTime() - start;
      if (spent >= SAMPLE_NS_MIN || calls >= 1 << 20) return calls;
      calls *= 2;
    }
  }

  private static double mean(Iterable<Double> window) {
    double sum = 0;
    for (double us : window) sum += us;
    return sum / K;
  }

  private static double cov(Iterable<Double> window) {
    double squares = 0;
    double mean = mean(window);
    for (double us : window) squares += (us - mean) * (us - mean);
    return Math.sqrt(squares / (K - 1)) / mean;
  }

  /** Takes every event and looks at its values. */
  private static final class Sink extends DefaultHandler {
    private int seen;

    @Override
    public void startElement(String uri, String local, String name, Attributes attributes) {
      for (int i = 0; i < attributes.getLength(); i++) seen += attributes.getValue(i).length();
    }

    @Override
    public void characters(char[] text, int start, int length) {
      seen += length;
    }
  }

  /** Keeps a document's events and gives them again. */
  private static final class Recorder extends DefaultHandler {
    private interface Step {
      void give(ContentHandler handler) throws SAXException;
    }

    private final List<Step> steps = new ArrayList<>();

    void clear() {
      steps.clear();
    }

    void replay(ContentHandler handler) throws SAXException {
      for (Step step : steps) step.give(handler);
    }

    @Override
    public void startDocument() {
      steps.add(ContentHandler::startDocument);
    }

    @Override
    public void endDocument() {
      steps.add(ContentHandler::endDocument);
    }

    @Override
    public void startPrefixMapping(String prefix, String uri) {
      steps.add(handler -> handler.startPrefixMapping(prefix, uri));
    }

    @Override
    public void endPrefixMapping(String prefix) {
      steps.add(handler -> handler.endPrefixMapping(prefix));
    }

    @Override
    public void startElement(String uri, String local, String name, Attributes attributes) {
      AttributesImpl kept = new AttributesImpl(attributes);
      steps.add(handler -> handler.startElement(uri, local, name, kept));
    }

    @Override
    public void endElement(String uri, String local, String name) {
      steps.add(handler -> handler.endElement(uri, local, name));
    }

    @Override
    public void characters(char[] text, int start, int length) {
      char[] kept = java.util.Arrays.copyOfRange(text, start, start + length);
      steps.add(handler -> handler.characters(kept, 0, kept.length));
    }
  }
}
