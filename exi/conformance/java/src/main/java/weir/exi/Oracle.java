package weir.exi;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Encodes and decodes with EXIficient, job after job, so that thousands need one virtual machine.
 *
 * <p>A job is a line of fields divided by tabs: {@code encode} or {@code decode}, the file to read, the
 * file to write, and options as {@link Settings} names them. The answer is a line: {@code ok}, or
 * {@code error} and what went wrong.
 */
public final class Oracle {
    private Oracle() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // Libraries that print must not answer.
        System.setOut(System.err);
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String job = jobs.readLine(); job != null; job = jobs.readLine()) {
            answers.println(answer(job.split("\t", -1)));
        }
    }

    private static String answer(String[] fields) {
        try {
            Settings settings = Settings.of(fields, 3);
            if (fields[0].equals("encode")) {
                Coder.encode(fields[1], fields[2], settings);
            } else {
                Coder.decode(fields[1], fields[2], settings);
            }
            return "ok";
        } catch (Exception | StackOverflowError | OutOfMemoryError wrong) {
            return "error\t" + sentence(wrong).replaceAll("[\\t\\r\\n]+", " ");
        }
    }

    private static String sentence(Throwable wrong) {
        StringBuilder words = new StringBuilder();
        for (Throwable cause = wrong; cause != null; cause = cause.getCause()) {
            words.append(words.length() == 0 ? "" : " <- ").append(cause);
        }
        StackTraceElement[] trace = wrong.getStackTrace();
        return trace.length == 0 ? words.toString() : words + " at " + trace[0];
    }
}
