-- Whether anyone may take a seat, without an invitation; never once the game is over.
ALTER TABLE games ADD COLUMN anyone_may_join INTEGER NOT NULL DEFAULT 0;
UPDATE games SET anyone_may_join = 1
WHERE seating IS NOT NULL AND phase <> 'finished'
AND CASE WHEN json_valid(seating) AND json_valid(snapshot) THEN
    seating ->> 'join' = 'anyone' AND EXISTS (
        SELECT 1 FROM json_each(snapshot, '$.players') AS player
        WHERE player.value ->> 'open'
        AND seating ->> ('$.seats[' || player.key || '].opened') <> 'by_host'
    )
END;

-- As those of the public list.
CREATE INDEX games_joinable ON games (listed) WHERE anyone_may_join = 1;
CREATE INDEX games_joinable_phase ON games (listed, phase) WHERE anyone_may_join = 1;
