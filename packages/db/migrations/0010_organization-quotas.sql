CREATE TABLE "organization_quotas" (
	"organization_id" uuid NOT NULL,
	"type" text NOT NULL,
	"max" bigint NOT NULL,
	CONSTRAINT "organization_quotas_organization_id_type_pk" PRIMARY KEY("organization_id","type"),
	CONSTRAINT "organization_quotas_type" CHECK ("organization_quotas"."type" in ('projects', 'vms', 'gpus', 'disks', 'disk_gib', 'firewall_rules', 'networks', 'access_keys'))
);
--> statement-breakpoint
ALTER TABLE "organization_quotas" ADD CONSTRAINT "organization_quotas_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- An organization that has more than a new one may have keeps it.
INSERT INTO organization_quotas (organization_id, type, max)
SELECT o.id, d.type, greatest(d.max, CASE WHEN d.type = 'projects'
	THEN (SELECT count(*) FROM projects p WHERE p.organization_id = o.id)
	ELSE (SELECT coalesce(sum(q.used), 0) FROM projects p JOIN quotas q ON q.project_id = p.id AND q.type = d.type
		WHERE p.organization_id = o.id) END)
FROM organizations o, (VALUES ('projects', 50), ('vms', 2000), ('gpus', 8000), ('disks', 4000), ('disk_gib', 2000000),
	('firewall_rules', 2000), ('networks', 200), ('access_keys', 1000)) AS d (type, max);
