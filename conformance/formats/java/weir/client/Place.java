package weir.client;

import com.google.gwt.user.client.rpc.IsSerializable;

/** Degrees WGS 84. */
public class Place implements IsSerializable {
  public double latitude;
  public double longitude;
}
