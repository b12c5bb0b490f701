package weir;

/** The first line of a server, by which the bench finds it. */
final class Announced {
    private Announced() {}

    /** An address as URLs have it. */
    static String named(String host) {
        return host.contains(":") ? "[" + host + "]" : host;
    }

    /** Tells where it listens and what it is, and waits to be ended. */
    static void at(String scheme, String host, int port) throws InterruptedException {
        System.out.printf("{\"ready\":true,\"%s\":\"%s:%d\"}%n", scheme, named(host), port);
        System.out.flush();
        Thread.currentThread().join();
    }
}
