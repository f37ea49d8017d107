# The PostgreSQL image runs this once, after it has made the primary's database.
set -euo pipefail

psql --username="${POSTGRES_USER:-postgres}" --set=ON_ERROR_STOP=1 \
  --set=dog="$DOG_PASSWORD" --set=replication="$REPLICATION_PASSWORD" <<'SQL'
CREATE ROLE dog LOGIN PASSWORD :'dog';
CREATE DATABASE dog OWNER dog TEMPLATE template0 ENCODING 'UTF8';
CREATE ROLE replication LOGIN REPLICATION PASSWORD :'replication';
-- In force from the next start. From then on commits wait for the standby.
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)';
SQL
echo 'host replication replication all scram-sha-256' >> "$PGDATA/pg_hba.conf"
