package weir.client;

import com.google.gwt.user.client.rpc.IsSerializable;
import java.sql.Timestamp;

/** What few observations carry. */
public class Extra implements IsSerializable {
  public Timestamp end;
  public String feature;
  public String parameters;
  public String quality;
  public Timestamp resultTime;
  public Timestamp validFrom;
  public Timestamp validTo;
}
