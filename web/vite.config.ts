import { defineConfig } from "vitest/config";

// Relative URLs, so that the gateway may serve the folder under any path.
// `npm run dev` hands the gateway's own paths to WEIR_URL.
const gateway = process.env["WEIR_URL"] ?? "http://127.0.0.1:8080";
const paths = ["/live", "/history", "/catalog", "/formats", "/health", "/mqtt", "/amqp", "/advise"];

export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    sourcemap: false,
    // The dashboard, the page that advises, and those of the bench: what is seen of messages, decoders, and
    // a client of brokers.
    rollupOptions: {
      input: ["index.html", "advise.html", "measure.html", "decoders.html", "messaging.html"],
    },
  },
  server: { proxy: Object.fromEntries(paths.map((path) => [path, { target: gateway, ws: true }])) },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
