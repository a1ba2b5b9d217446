-- What an orphan has of each NUMA node, in the form of placements.numa_shares, from the description that its host
-- reported. Returns null if the description has no shares or if one is not a number: the host is not trusted.
CREATE OR REPLACE FUNCTION orphan_numa_shares(description jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_agg(jsonb_build_object('node', share -> 'node', 'cores', share -> 'cpuCores',
      'memoryMib', share -> 'memoryMib'))
    FROM jsonb_path_query(description, 'strict $.numaShares[*]', silent => true) share
    HAVING bool_and(share @@ '$.node >= 0 && $.cpuCores >= 0 && $.memoryMib >= 0
      && $.node < 1024 && $.cpuCores < 65536 && $.memoryMib < 1000000000')
$$;
