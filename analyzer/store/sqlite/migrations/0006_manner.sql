-- How a library did its collectives, as far as it told: of NCCL algorithm, protocol, channels and transport.
ALTER TABLE collective ADD COLUMN manner TEXT NOT NULL DEFAULT '';
