package weir;

import com.hivemq.embedded.EmbeddedHiveMQ;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * HiveMQ CE: {@code Broker FOLDER ADDRESS MQTT-PORT WEBSOCKET-PORT}. It lets everybody in, as it does
 * without an extension that says otherwise.
 *
 * <p>It says on its first line that it is ready, as all that the bench starts does, and keeps
 * everything in the folder. Its own log goes to standard error.
 */
public final class Broker {
    private Broker() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        for (String part : new String[] {"conf", "data", "extensions", "log"}) {
            Files.createDirectories(folder.resolve(part));
        }
        String address = arguments[1];
        Files.writeString(folder.resolve("conf/config.xml"), listeners(address, arguments[2], arguments[3]));
        System.setProperty("hivemq.log.folder", folder.resolve("log").toString());
        var ready = System.out;
        System.setOut(System.err);
        EmbeddedHiveMQ.builder()
                .withConfigurationFolder(folder.resolve("conf"))
                .withDataFolder(folder.resolve("data"))
                .withExtensionsFolder(folder.resolve("extensions"))
                .build()
                .start()
                .join();
        String at = address.contains(":") ? "[" + address + "]" : address;
        ready.printf(
                "{\"ready\":true,\"mqtt\":\"%s:%s\",\"http\":\"%s:%s\",\"version\":\"HiveMQ CE %s\"}%n",
                at, arguments[2], at, arguments[3], EmbeddedHiveMQ.class.getPackage().getImplementationVersion());
        ready.flush();
        Thread.currentThread().join();
    }

    private static String listeners(String address, String mqtt, String websocket) {
        return """
                <hivemq>
                  <listeners>
                    <tcp-listener><port>%2$s</port><bind-address>%1$s</bind-address></tcp-listener>
                    <websocket-listener>
                      <port>%3$s</port>
                      <bind-address>%1$s</bind-address>
                      <path>/mqtt</path>
                      <subprotocols><subprotocol>mqtt</subprotocol></subprotocols>
                    </websocket-listener>
                  </listeners>
                  <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
                </hivemq>
                """.formatted(address, mqtt, websocket);
    }
}
