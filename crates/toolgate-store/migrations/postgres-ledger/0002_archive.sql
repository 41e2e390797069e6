-- Records may be deleted once a seal says that they are archived; nothing else may.
DROP TRIGGER ledger_keeps ON ledger;
CREATE TRIGGER ledger_keeps BEFORE UPDATE OR TRUNCATE ON ledger
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_keeps();
CREATE FUNCTION ledger_keeps_unsealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ledger_seals WHERE until >= OLD.position) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER ledger_keeps_unsealed BEFORE DELETE ON ledger
    FOR EACH ROW EXECUTE FUNCTION ledger_keeps_unsealed();
