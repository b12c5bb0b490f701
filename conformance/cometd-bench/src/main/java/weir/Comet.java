package weir;

import jakarta.servlet.ServletContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.cometd.bayeux.Promise;
import org.cometd.bayeux.server.BayeuxServer;
import org.cometd.bayeux.server.ServerChannel;
import org.cometd.server.CometDServlet;
import org.cometd.server.DefaultSecurityPolicy;
import org.cometd.server.http.AsyncJSONTransport;
import org.cometd.server.websocket.jetty.JettyWebSocketTransport;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.eclipse.jetty.websocket.core.server.WebSocketServerComponents;
import org.eclipse.jetty.websocket.server.config.JettyWebSocketServletContainerInitializer;

/**
 * CometD on Jetty: {@code Comet ADDRESS}, on a free port that its first line tells.
 *
 * <p>{@code POST /pub/TOPIC} publishes the body, as a text, to the Bayeux channel {@code /TOPIC};
 * clients subscribe at {@code /cometd}, by long polling or WebSocket. A time that the field {@code
 * Arrival-Instead-Of} names is replaced in the body by the time of its arrival here. Pages of other origins are let
 * in, since the page that measures is the gateway's.
 */
public final class Comet {
    private Comet() {}

    public static void main(String[] arguments) throws Exception {
        Server server = new Server(new InetSocketAddress(arguments[0], 0));
        ServletContextHandler context = new ServletContextHandler(server, "/");
        JettyWebSocketServletContainerInitializer.configure(context, (servlets, container) -> sendAsItIs(servlets));
        context.addFilter(new FilterHolder(Comet::letIn), "/*", null);
        context.addServlet(bayeux(), "/cometd/*");
        context.addServlet(new ServletHolder(new Publish()), "/pub/*");
        server.start();
        BayeuxServer comet = (BayeuxServer) context.getServletContext().getAttribute(BayeuxServer.ATTRIBUTE);
        comet.setSecurityPolicy(new DefaultSecurityPolicy());
        String at = arguments[0].contains(":") ? "[" + arguments[0] + "]" : arguments[0];
        int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
        System.out.printf(
                "{\"ready\":true,\"http\":\"%s:%d\",\"version\":\"CometD %s on Jetty %s\"}%n",
                at, port, CometDServlet.class.getPackage().getImplementationVersion(), Server.getVersion());
        System.out.flush();
        server.join();
    }

    /** What is measured is formats, so nothing is compressed on the way, here as at the gateway. */
    private static void sendAsItIs(ServletContext servlets) {
        WebSocketServerComponents.getWebSocketComponents(servlets)
                .getExtensionRegistry()
                .unregister("permessage-deflate");
    }

    private static ServletHolder bayeux() {
        ServletHolder holder = new ServletHolder("cometd", CometDServlet.class);
        holder.setInitParameter(
                "transports", JettyWebSocketTransport.class.getName() + "," + AsyncJSONTransport.class.getName());
        holder.setInitParameter("ws.cometdURLMapping", "/cometd/*");
        holder.setInitOrder(1);
        holder.setAsyncSupported(true);
        return holder;
    }

    private static void letIn(
            jakarta.servlet.ServletRequest request,
            jakarta.servlet.ServletResponse response,
            jakarta.servlet.FilterChain chain)
            throws IOException, jakarta.servlet.ServletException {
        HttpServletRequest asked = (HttpServletRequest) request;
        HttpServletResponse answer = (HttpServletResponse) response;
        String origin = asked.getHeader("Origin");
        if (origin != null) {
            answer.setHeader("Access-Control-Allow-Origin", origin);
            answer.setHeader("Access-Control-Allow-Credentials", "true");
            answer.setHeader("Access-Control-Allow-Headers", "content-type");
            answer.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
        }
        if (asked.getMethod().equals("OPTIONS")) {
            answer.setStatus(204);
        } else {
            chain.doFilter(request, response);
        }
    }

    private static final class Publish extends HttpServlet {
        private static final long serialVersionUID = 1;
        private static final DateTimeFormatter MICROSECONDS =
                DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            BayeuxServer comet = (BayeuxServer) getServletContext().getAttribute(BayeuxServer.ATTRIBUTE);
            String channel = request.getPathInfo();
            String body = new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String replaced = request.getHeader("Arrival-Instead-Of");
            if (replaced != null) {
                body = body.replace(replaced, MICROSECONDS.format(Instant.now()));
            }
            ServerChannel to = comet.createChannelIfAbsent(channel).getReference();
            to.publish(null, body, Promise.noop());
            response.setStatus(204);
        }
    }
}
