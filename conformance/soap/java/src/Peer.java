import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.WebServiceException;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;
import javax.xml.datatype.DatatypeConfigurationException;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import org.apache.cxf.binding.soap.SoapFault;
import weir.soap.Datastream;
import weir.soap.Observation;
import weir.soap.Observations;
import weir.soap.Observations_Service;
import weir.soap.Period;

/**
 * Calls every operation of the web service by the client that Apache CXF generated: {@code Peer WSDL}.
 *
 * <p>Says what it got, a line each: port, operation, values.
 */
public final class Peer {
    private static final String BEGIN = "2026-01-01T00:00:00Z";
    private static final String LATER = "2026-01-01T00:01:00Z";

    private Peer() {}

    public static void main(String[] arguments) throws Exception {
        Observations_Service service = new Observations_Service(new URL(arguments[0]));
        call("Soap11", service.getSoap11());
        call("Soap12", service.getSoap12());
    }

    private static void call(String port, Observations service) throws Exception {
        // SOAP 1.2 has 400 for what the sender did wrong (part 2 section 7.5.2.2), where CXF reads no fault unless asked.
        ((BindingProvider) service).getRequestContext().put("org.apache.cxf.transport.process_fault_on_http_400", true);
        String topic = "cxf/" + port;
        say(port, "publish", service.publish(topic, null, List.of(whole(topic + "/t"), truth(topic + "/door"))));
        Observation next = number(topic + "/t", 22, LATER);
        String first = service.publish(topic, "a key", List.of(next));
        say(port, "repeated", first.equals(service.publish(topic, "a key", List.of(next))));
        service.latest(List.of(topic + "/#")).forEach(one -> say(port, "latest", shown(one)));
        pages(port, topic + "/t", service);
        for (Datastream one : service.describe(List.of(topic + "/t"))) {
            say(port, "describe", one.getTopic(), one.getType(), one.getUnit(), one.getSensor());
        }
        try {
            service.publish(topic, null, List.of(number("elsewhere", 1, BEGIN)));
        } catch (WebServiceException error) {
            SoapFault fault = (SoapFault) error.getCause();
            say(port, "fault", fault.getFaultCode().getLocalPart(), fault.getReason());
        }
    }

    private static void pages(String port, String topic, Observations service) throws Exception {
        Holder<String> page = new Holder<>();
        do {
            Holder<List<Observation>> found = new Holder<>();
            service.history(List.of(topic), time(BEGIN), null, 1, page.value, found, page);
            found.value.forEach(one -> say(port, "history", shown(one)));
        } while (page.value != null);
    }

    /** An observation with all that one may have. */
    private static Observation whole(String topic) throws Exception {
        Observation one = number(topic, 21.5, BEGIN);
        one.setSensor("urn:example:sensor");
        one.setType("temperature");
        one.setUnit("Cel");
        one.setLatitude(44.8);
        one.setLongitude(20.4);
        one.setFeature("urn:example:hall");
        one.setEnd(time("2026-01-01T00:00:30Z"));
        one.setResultTime(time(LATER));
        Period valid = new Period();
        valid.setFrom(time(BEGIN));
        valid.setTo(time("2026-01-02T00:00:00Z"));
        one.setValidTime(valid);
        one.setQuality("good & checked");
        one.setParameters("{\"depth\":1.5}");
        return one;
    }

    private static Observation number(String topic, double value, String time) throws Exception {
        Observation one = new Observation();
        one.setTopic(topic);
        one.setNumber(value);
        one.setTime(time(time));
        return one;
    }

    private static Observation truth(String topic) {
        Observation one = new Observation();
        one.setTopic(topic);
        one.setBoolean(true);
        return one;
    }

    private static XMLGregorianCalendar time(String text) throws DatatypeConfigurationException {
        return DatatypeFactory.newInstance().newXMLGregorianCalendar(text);
    }

    /** All that an observation of this program may have. */
    private static String shown(Observation one) {
        List<Object> parts = new ArrayList<>(List.of(one.getTopic()));
        for (Object part : new Object[] {
            one.getNumber(), one.isBoolean(), one.getSensor(), one.getType(), one.getUnit(), one.getLatitude(),
            one.getLongitude(), one.getFeature(), one.getEnd(), one.getResultTime(),
            one.getValidTime() == null ? null : one.getValidTime().getFrom() + "/" + one.getValidTime().getTo(),
            one.getQuality(), one.getParameters()
        }) {
            parts.add(part);
        }
        return parts.toString();
    }

    private static void say(Object... parts) {
        StringBuilder line = new StringBuilder();
        for (Object part : parts) {
            line.append(line.length() > 0 ? "\t" : "").append(part);
        }
        System.out.println(line);
    }
}
