package weir;

import jakarta.jws.WebParam;
import jakarta.jws.WebResult;
import jakarta.jws.WebService;
import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.ws.BindingType;
import jakarta.xml.ws.soap.SOAPBinding;
import java.net.ServerSocket;
import java.util.List;
import javax.xml.datatype.XMLGregorianCalendar;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;

/**
 * SOAP on Apache CXF and its Jetty: {@code Soap ADDRESS}, on a port that was free and that its first line tells.
 *
 * <p>Made from Java classes, as the paper's service on Axis2. {@code publish} at {@code /service} takes observations
 * as weir's WSDL has them, by SOAP 1.2, and sends them back.
 */
public final class Soap {
    private static final String NAMESPACE = "urn:weir:observations";

    private Soap() {}

    public static void main(String[] arguments) throws Exception {
        String host = arguments[0];
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        JaxWsServerFactoryBean server = new JaxWsServerFactoryBean();
        server.setServiceBean(new Echo());
        server.setAddress("http://" + Announced.named(host) + ":" + port + "/service");
        server.create();
        Announced.at("http", host, port);
    }

    /** An observation; these members are all that the bench sends. */
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Observation {
        String topic;
        Double number;
        @XmlElement(name = "boolean")
        Boolean truth;
        String text;
        XMLGregorianCalendar time;
    }

    /** The service. */
    @BindingType(SOAPBinding.SOAP12HTTP_BINDING)
    @WebService(name = "Observations", serviceName = "Observations", targetNamespace = NAMESPACE)
    public static class Echo {
        @WebResult(name = "observation", targetNamespace = NAMESPACE)
        public List<Observation> publish(
                @WebParam(name = "topic", targetNamespace = NAMESPACE) String topic,
                @WebParam(name = "observation", targetNamespace = NAMESPACE) List<Observation> observations) {
            return observations;
        }
    }
}
