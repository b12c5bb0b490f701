import com.google.gwt.user.server.rpc.RPC;
import com.google.gwt.user.server.rpc.SerializationPolicy;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import weir.client.Extra;
import weir.client.Observation;
import weir.client.Place;

/**
 * Answers a call as GWT's own server does. Each line of the input is an observation, its members as
 * name=value between tabs; the answer is one line.
 */
public class Answer {
  /** Everything may be sent. */
  static class Policy extends SerializationPolicy {
    @Override public boolean shouldDeserializeFields(Class<?> type) { return type != Object.class; }
    @Override public boolean shouldSerializeFields(Class<?> type) {
      return type != null && type != Object.class;
    }
    @Override public void validateDeserialize(Class<?> type) { }
    @Override public void validateSerialize(Class<?> type) { }
  }

  /** A service, whose method the answer is of. */
  public interface Service {
    ArrayList<Observation> observations();
  }

  private static Timestamp lastTime;
  private static Place lastPlace;

  private static Timestamp time(String text) {
    if (text == null) return null;
    Timestamp time = Timestamp.from(Instant.parse(text));
    if (!time.equals(lastTime)) lastTime = time;
    return lastTime;
  }

  private static Place place(String latitude, String longitude) {
    if (latitude == null) return null;
    Place place = new Place();
    place.latitude = Double.parseDouble(latitude);
    place.longitude = Double.parseDouble(longitude);
    boolean same = lastPlace != null && lastPlace.latitude == place.latitude
        && lastPlace.longitude == place.longitude;
    if (!same) lastPlace = place;
    return lastPlace;
  }

  private static Extra extra(Map<String, String> members) {
    Extra extra = new Extra();
    extra.end = time(members.get("end"));
    extra.feature = members.get("feature");
    extra.parameters = members.get("parameters");
    extra.quality = members.get("quality");
    extra.resultTime = time(members.get("resultTime"));
    extra.validFrom = time(members.get("validFrom"));
    extra.validTo = time(members.get("validTo"));
    return extra;
  }

  private static Observation observation(Map<String, String> members) {
    Observation one = new Observation();
    if (members.containsKey("extra")) one.extra = extra(members);
    one.kind = Integer.parseInt(members.get("kind"));
    one.number = Double.parseDouble(members.getOrDefault("number", "0"));
    one.place = place(members.get("lat"), members.get("lon"));
    one.sensor = members.get("sensor");
    one.text = members.get("text");
    one.time = time(members.get("time"));
    one.topic = members.get("topic");
    one.type = members.get("type");
    one.unit = members.get("unit");
    return one;
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    ArrayList<Observation> list = new ArrayList<>();
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      Map<String, String> members = new HashMap<>();
      for (String member : line.split("\t")) {
        int mark = member.indexOf('=');
        members.put(member.substring(0, mark), member.substring(mark + 1).replace("\\n", "\n"));
      }
      list.add(observation(members));
    }
    String answer = RPC.encodeResponseForSuccess(
        Service.class.getMethod("observations"), list, new Policy());
    new PrintStream(System.out, true, "UTF-8").println(answer);
  }
}
