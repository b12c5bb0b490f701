package weir;

import com.google.protobuf.InvalidProtocolBufferException;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import java.net.URI;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.server.ServerProperties;
import weir.Weir.Message;

/**
 * REST on Jersey and Grizzly, the engine of the paper's Glassfish: {@code Rest ADDRESS}, on a free port that its
 * first line tells.
 *
 * <p>{@code POST /service} reads the Protobuf message and sends it back, written anew.
 */
public final class Rest {
    private Rest() {}

    public static void main(String[] arguments) throws Exception {
        String host = arguments[0];
        ResourceConfig resources = new ResourceConfig(Echo.class).property(ServerProperties.WADL_FEATURE_DISABLE, true);
        URI address = URI.create("http://" + Announced.named(host) + ":0/");
        HttpServer server = GrizzlyHttpServerFactory.createHttpServer(address, resources, false);
        NetworkListener listener = server.getListeners().iterator().next();
        // As many requests on a connection as there are, in the place of 256.
        listener.getKeepAlive().setMaxRequestsCount(-1);
        server.start();
        Announced.at("http", host, listener.getPort());
    }

    /** The service. */
    @Path("service")
    public static final class Echo {
        private static final String PROTOBUF = "application/x-protobuf";

        @POST
        @Consumes(PROTOBUF)
        @Produces(PROTOBUF)
        public byte[] echo(byte[] body) {
            try {
                return Message.parseFrom(body).toByteArray();
            } catch (InvalidProtocolBufferException error) {
                throw new BadRequestException(error.getMessage(), error);
            }
        }
    }
}
