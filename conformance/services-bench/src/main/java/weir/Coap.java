package weir;

import com.google.protobuf.InvalidProtocolBufferException;
import java.net.InetSocketAddress;
import org.eclipse.californium.core.CoapResource;
import org.eclipse.californium.core.CoapServer;
import org.eclipse.californium.core.coap.CoAP.ResponseCode;
import org.eclipse.californium.core.coap.MediaTypeRegistry;
import org.eclipse.californium.core.config.CoapConfig;
import org.eclipse.californium.core.network.CoapEndpoint;
import org.eclipse.californium.core.server.resources.CoapExchange;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.elements.config.UdpConfig;
import weir.Weir.Message;

/**
 * CoAP on Californium: {@code Coap ADDRESS}, on a free port that its first line tells.
 *
 * <p>{@code POST /service} reads the Protobuf message and sends it back, written anew.
 */
public final class Coap {
    /** The bench's largest message is above the default of 8 KiB. */
    private static final int BODY_BYTES_MAX = 1 << 20;

    private Coap() {}

    public static void main(String[] arguments) throws Exception {
        CoapConfig.register();
        UdpConfig.register();
        Configuration settings = Configuration.createStandardWithoutFile();
        settings.set(CoapConfig.MAX_RESOURCE_BODY_SIZE, BODY_BYTES_MAX);
        CoapEndpoint endpoint = CoapEndpoint.builder()
                .setConfiguration(settings)
                .setInetSocketAddress(new InetSocketAddress(arguments[0], 0))
                .build();
        CoapServer server = new CoapServer(endpoint.getConfig());
        server.addEndpoint(endpoint);
        server.add(new Echo());
        server.start();
        Announced.at("coap", arguments[0], endpoint.getAddress().getPort());
    }

    private static final class Echo extends CoapResource {
        Echo() {
            super("service");
        }

        @Override
        public void handlePOST(CoapExchange exchange) {
            try {
                byte[] echoed = Message.parseFrom(exchange.getRequestPayload()).toByteArray();
                exchange.respond(ResponseCode.CHANGED, echoed, MediaTypeRegistry.APPLICATION_OCTET_STREAM);
            } catch (InvalidProtocolBufferException error) {
                exchange.respond(ResponseCode.BAD_REQUEST, error.getMessage());
            }
        }
    }
}
