# Starts the standby; the first time with a copy of the primary.
set -euo pipefail

chmod 0700 "$PGDATA"
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  pg_basebackup --write-recovery-conf --pgdata="$PGDATA" --checkpoint=fast \
    --dbname="host=${PRIMARY:-primary} user=replication application_name=standby"
fi
exec postgres -D "$PGDATA"
