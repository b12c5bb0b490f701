import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.californium.core.CoapClient;
import org.eclipse.californium.core.CoapHandler;
import org.eclipse.californium.core.CoapObserveRelation;
import org.eclipse.californium.core.CoapResponse;
import org.eclipse.californium.core.config.CoapConfig;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.elements.config.UdpConfig;

/** Californium as a client: `Peer get|put|observe URL [TEXT|COUNT]`; prints code and payload a line. */
public final class Peer {
    private Peer() {}

    public static void main(String[] arguments) throws Exception {
        CoapConfig.register();
        UdpConfig.register();
        Configuration.setStandard(Configuration.createStandardWithoutFile());
        CoapClient client = new CoapClient(arguments[1]);
        client.setTimeout(30_000L);
        switch (arguments[0]) {
            case "get" -> print(client.get());
            case "put" -> print(client.put(arguments[2], 0));
            case "observe" -> observe(client, Integer.parseInt(arguments[2]));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        client.shutdown();
        System.exit(0);
    }

    private static void observe(CoapClient client, int count) throws InterruptedException {
        CountDownLatch wanted = new CountDownLatch(count);
        CoapObserveRelation relation = client.observe(new CoapHandler() {
            @Override
            public void onLoad(CoapResponse response) {
                print(response);
                wanted.countDown();
            }

            @Override
            public void onError() {
                System.out.println("error");
            }
        });
        wanted.await(60, TimeUnit.SECONDS);
        relation.proactiveCancel();
        TimeUnit.MILLISECONDS.sleep(300);
    }

    private static void print(CoapResponse response) {
        if (response == null) {
            System.out.println("nothing");
            return;
        }
        String text = new String(response.getPayload(), StandardCharsets.UTF_8).strip();
        System.out.println(response.getCode() + " " + text);
        System.out.flush();
    }
}
