-- Duplicate matches. The columns are those of SQLite's schema, but for match_result.

ALTER TABLE games ADD COLUMN match_id text COLLATE "C";
ALTER TABLE games ADD COLUMN match_table bigint;
ALTER TABLE games ADD COLUMN match_closed boolean NOT NULL DEFAULT false;
ALTER TABLE games ADD COLUMN match_result text; -- set by the write that ends the table
CREATE INDEX games_match ON games (match_id, match_table) WHERE match_id IS NOT NULL;

CREATE TABLE matches (
    id         text COLLATE "C" PRIMARY KEY,
    created_at bigint  NOT NULL,
    host_token bytea   NOT NULL,
    ended      boolean NOT NULL DEFAULT false,
    setup      text    NOT NULL
);

CREATE TABLE match_tables (
    match_id text COLLATE "C" NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    number   bigint NOT NULL,
    game     text   NOT NULL,
    seed     text   NOT NULL,
    result   text COLLATE "C",
    PRIMARY KEY (match_id, number)
);

-- Notes the result of a table that ends or is removed, and opens its pair if the other table has
-- ended too. Two tables may end at once, on two nodes: the second one waits for the first.
CREATE FUNCTION end_match_table() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    first bigint := OLD.match_table - OLD.match_table % 2;
    opens boolean;
BEGIN
    PERFORM FROM match_tables WHERE match_id = OLD.match_id AND number IN (first, first + 1)
        ORDER BY number FOR UPDATE;
    UPDATE match_tables
        SET result = CASE TG_OP WHEN 'UPDATE' THEN NEW.match_result ELSE 'null' END
        WHERE match_id = OLD.match_id AND number = OLD.match_table AND result IS NULL;
    -- If the host has ended the match before, a pair without a result stays closed.
    SELECT count(result) = 2 AND (min(result) <> 'null'
            OR NOT (SELECT ended FROM matches WHERE id = OLD.match_id)) INTO opens
        FROM match_tables WHERE match_id = OLD.match_id AND number IN (first, first + 1);
    IF opens THEN
        WITH opened AS (
            UPDATE games SET match_closed = false WHERE match_id = OLD.match_id
                AND match_table = 2 * first + 1 - OLD.match_table AND match_closed
                RETURNING id, version)
        INSERT INTO changes (game, version)
            SELECT id, version FROM opened UNION ALL SELECT OLD.match_id, 0;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    NEW.match_closed := NEW.match_closed AND NOT opens;
    RETURN NEW;
END $$;
CREATE TRIGGER end_match_table BEFORE UPDATE ON games FOR EACH ROW
    WHEN (NEW.match_result IS NOT NULL AND OLD.match_result IS NULL)
    EXECUTE FUNCTION end_match_table();
CREATE TRIGGER remove_match_table BEFORE DELETE ON games FOR EACH ROW
    WHEN (OLD.match_id IS NOT NULL) EXECUTE FUNCTION end_match_table();
