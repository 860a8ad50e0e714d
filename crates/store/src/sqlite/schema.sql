-- A store of toolwright. `entries` has the values; `totals` has one row. Triggers update the totals. They also
-- give a new version to values that a person adds or changes by hand, so that no program overwrites them unseen.
CREATE TABLE entries (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE totals (
  entries INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  last_version INTEGER NOT NULL
);
INSERT INTO totals VALUES (0, 0, 0);

CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
  UPDATE totals SET
    entries = entries + 1,
    bytes = bytes + length(CAST(new.key AS BLOB)) + length(CAST(new.value AS BLOB));
END;

CREATE TRIGGER entry_changed AFTER UPDATE OF key, value ON entries BEGIN
  UPDATE totals SET
    bytes = bytes
      + length(CAST(new.key AS BLOB)) + length(CAST(new.value AS BLOB))
      - length(CAST(old.key AS BLOB)) - length(CAST(old.value AS BLOB));
END;

CREATE TRIGGER entry_deleted AFTER DELETE ON entries BEGIN
  UPDATE totals SET
    entries = entries - 1,
    bytes = bytes - length(CAST(old.key AS BLOB)) - length(CAST(old.value AS BLOB));
END;

CREATE TRIGGER added_by_hand AFTER INSERT ON entries WHEN new.version = 0 BEGIN
  UPDATE totals SET last_version = last_version + 1;
  UPDATE entries SET version = (SELECT last_version FROM totals) WHERE key = new.key;
END;

CREATE TRIGGER changed_by_hand AFTER UPDATE OF key, value ON entries WHEN new.version = old.version BEGIN
  UPDATE totals SET last_version = last_version + 1;
  UPDATE entries SET version = (SELECT last_version FROM totals) WHERE key = new.key;
END;
