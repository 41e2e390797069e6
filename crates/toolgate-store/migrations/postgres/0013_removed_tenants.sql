-- Tenants that were removed: a credential that still names one stands for nobody.
CREATE TABLE removed_tenants (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY
);
