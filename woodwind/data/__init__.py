"""Any table becomes columns, columns become cuts, cuts become codes. The only room that knows pandas, polars and Arrow."""
