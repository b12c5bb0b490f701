//! The examples of the standard (appendix H) and of the primer (the notebook).

use super::support::{Grammars, schema};

const PRODUCT: &str = r#"
<xs:element name="product">
  <xs:complexType>
    <xs:sequence maxOccurs="2">
      <xs:element name="description" type="xs:string" minOccurs="0"/>
      <xs:element name="quantity" type="xs:integer"/>
      <xs:element name="price" type="xs:float"/>
    </xs:sequence>
    <xs:attribute name="sku" type="xs:string" use="required"/>
    <xs:attribute name="color" type="xs:string" use="optional"/>
  </xs:complexType>
</xs:element>
<xs:element name="order">
  <xs:complexType>
    <xs:sequence><xs:element ref="product" maxOccurs="unbounded"/></xs:sequence>
  </xs:complexType>
</xs:element>"#;

/// EXI 1.0 appendix H.2, NormG_ProductElement.
#[test]
fn the_product_of_appendix_h_has_its_event_codes() {
    let schema = schema(PRODUCT);
    let color_0 = schema.start("product");
    assert_eq!(schema.codes(color_0), ["AT(color)", "AT(sku)"]);
    let color_1 = schema.after(color_0, &["AT(color)"]);
    assert_eq!(schema.codes(color_1), ["AT(sku)"]);
    let sku_1 = schema.after(color_0, &["AT(sku)"]);
    assert_eq!(sku_1, schema.after(color_1, &["AT(sku)"]));
    assert_eq!(schema.codes(sku_1), ["SE(description)", "SE(quantity)"]);
    let description = schema.after(sku_1, &["SE(description)"]);
    assert_eq!(schema.codes(description), ["SE(quantity)"]);
    let price = schema.after(description, &["SE(quantity)", "SE(price)"]);
    assert_eq!(
        schema.codes(price),
        ["SE(description)", "SE(quantity)", "EE"]
    );
    let second = schema.after(price, &["SE(quantity)", "SE(price)"]);
    assert_eq!(schema.codes(second), ["EE"]);
}

/// EXI 1.0 appendix H.3: which states undeclared attributes belong to, and what is copied.
#[test]
fn the_product_of_appendix_h_has_its_content_index() {
    let schema = schema(PRODUCT);
    let start = schema.start("product");
    let sku_1 = schema.after(start, &["AT(sku)"]);
    let copied = schema.states[sku_1.index()].content;
    assert_ne!(copied, sku_1);
    assert_eq!(schema.codes(copied), schema.codes(sku_1));
    for (state, is_first, has_attributes) in [
        (start, true, true),
        (schema.after(start, &["AT(color)"]), false, true),
        (sku_1, false, true),
        (copied, false, false),
        (schema.after(sku_1, &["SE(description)"]), false, false),
    ] {
        let state = schema.states[state.index()];
        assert_eq!(
            (state.is_first, state.has_attributes),
            (is_first, has_attributes)
        );
    }
}

/// EXI 1.0 appendix H.2, NormG_OrderElement.
#[test]
fn the_order_of_appendix_h_repeats_products() {
    let schema = schema(PRODUCT);
    let start = schema.start("order");
    assert_eq!(schema.codes(start), ["SE(product)"]);
    let next = schema.after(start, &["SE(product)"]);
    assert_eq!(schema.codes(next), ["SE(product)", "EE"]);
    assert_eq!(schema.after(next, &["SE(product)"]), next);
    assert!(!schema.states[next.index()].has_attributes);
}

const NOTEBOOK: &str = r#"
<xs:element name="notebook">
  <xs:complexType>
    <xs:sequence maxOccurs="unbounded"><xs:element name="note" type="Note"/></xs:sequence>
    <xs:attribute ref="date"/>
  </xs:complexType>
</xs:element>
<xs:complexType name="Note">
  <xs:sequence>
    <xs:element name="subject" type="xs:string"/>
    <xs:element name="body" type="xs:string"/>
  </xs:sequence>
  <xs:attribute ref="date" use="required"/>
  <xs:attribute name="category" type="xs:string"/>
</xs:complexType>
<xs:attribute name="date" type="xs:date"/>"#;

/// EXI Primer section 3.3, the schema-informed notebook.
#[test]
fn the_notebook_of_the_primer_has_its_event_codes() {
    let schema = schema(NOTEBOOK);
    let notebook = schema.start("notebook");
    assert_eq!(schema.codes(notebook), ["AT(date)", "SE(note)"]);
    let dated = schema.after(notebook, &["AT(date)"]);
    assert_eq!(schema.codes(dated), ["SE(note)"]);
    let more = schema.after(dated, &["SE(note)"]);
    assert_eq!(schema.codes(more), ["SE(note)", "EE"]);
    let note = schema.named("Note").start;
    assert_eq!(schema.codes(note), ["AT(category)", "AT(date)"]);
    let content = schema.after(note, &["AT(date)"]);
    assert_eq!(schema.codes(content), ["SE(subject)"]);
    let body = schema.after(content, &["SE(subject)"]);
    assert_eq!(schema.codes(body), ["SE(body)"]);
    assert_eq!(schema.codes(schema.after(body, &["SE(body)"])), ["EE"]);
}

#[test]
fn tables_survive_being_written_and_read() {
    let schema = schema(PRODUCT);
    let bytes = schema.to_bytes();
    assert_eq!(
        weir_exi::Schema::from_bytes(&bytes).expect("tables"),
        schema
    );
}
