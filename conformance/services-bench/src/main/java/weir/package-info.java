/** Services that send back what they are sent; their elements are those of weir's WSDL. */
@XmlSchema(namespace = "urn:weir:observations", elementFormDefault = XmlNsForm.QUALIFIED)
package weir;

import jakarta.xml.bind.annotation.XmlNsForm;
import jakarta.xml.bind.annotation.XmlSchema;
