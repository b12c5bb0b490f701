package weir.client;

import com.google.gwt.user.client.rpc.IsSerializable;
import java.sql.Timestamp;

/** An observation as a client of GWT has it. */
public class Observation implements IsSerializable {
  public Extra extra;
  public int kind;
  public double number;
  public Place place;
  public String sensor;
  public String text;
  public Timestamp time;
  public String topic;
  public String type;
  public String unit;
}
