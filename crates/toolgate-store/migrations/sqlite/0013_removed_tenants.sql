-- Tenants that were removed: a credential that still names one stands for nobody.
CREATE TABLE removed_tenants (
    id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
