/**
 * The rules for new migrations that a text can be checked for. docs/contributors/migrations.md has the
 * reasons. A table that the migration itself creates is empty and not in use, so nothing about it
 * is checked.
 */

const NAME = String.raw`(?:"?public"?\.)?"?(\w+)"?`;
const TABLE_OF: readonly RegExp[] = [
  new RegExp(`^alter table (?:if exists )?(?:only )?${NAME}`, 'i'),
  new RegExp(`^create (?:unique )?index .*? on (?:only )?${NAME}`, 'i'),
  new RegExp(`^drop index (?:concurrently )?(?:if exists )?${NAME}`, 'i'),
  new RegExp(`^drop table (?:if exists )?${NAME}`, 'i'),
  new RegExp(
    `^(?:insert into|delete from|update|truncate(?: table)?|lock(?: table)?) (?:only )?${NAME}`,
    'i',
  ),
];

type Rule = { breaks: RegExp; unless?: RegExp; instead: string };

const RULES: readonly Rule[] = [
  {
    breaks: /^(?:create (?:unique )?|drop )index /i,
    unless: /^(?:create (?:unique )?|drop )index concurrently /i,
    instead: 'create or drop the index concurrently, in a migration of its own',
  },
  {
    breaks: /\badd constraint \S+ (?:check|foreign key)\b/i,
    unless: /\bnot valid;?$/i,
    instead: 'add the constraint NOT VALID, and validate it in the next migration',
  },
  {
    breaks: /\badd (?:constraint \S+ )?(?:unique|primary key)\b/i,
    unless: /\busing index\b/i,
    instead:
      'create a unique index concurrently, and add the constraint USING INDEX in the next migration',
  },
  {
    breaks: /\badd column .*\b(?:references|unique|primary key|check)\b/i,
    instead: 'add the column and its constraint with statements of their own',
  },
  {
    breaks: /\balter column \S+ (?:set data )?type\b/i,
    instead: 'add a column of the new type: changing a type rewrites the table',
  },
  {
    breaks: /\badd column .*\bgenerated always as (?!identity)/i,
    instead: 'add a plain column that a trigger fills: a generated column rewrites the table',
  },
  {
    breaks:
      /\badd column .*\bdefault [^,]*\b(?:random|gen_random_uuid|clock_timestamp|nextval|uuidv7)\(/i,
    instead: 'add the column with a constant default: a value for each row rewrites the table',
  },
  {
    breaks: /\balter column \S+ set not null\b/i,
    instead: 'add a CHECK (… is not null) NOT VALID, and validate it in the next migration',
  },
  {
    breaks: /^(?:vacuum full|cluster|reindex|lock|truncate) /i,
    instead: 'leave it out: it locks the whole table for as long as it takes',
  },
];

/** Returns what is wrong with a migration, a sentence for each rule that it breaks. */
export function findBrokenRules(statements: readonly string[]): string[] {
  const plain = statements.map(withoutComments).filter((statement) => statement !== '');
  const created = new Set(
    plain.flatMap(
      (one) => new RegExp(`^create table (?:if not exists )?${NAME}`, 'i').exec(one)?.[1] ?? [],
    ),
  );
  const onExisting = plain.filter((one) => tablesOf(one).some((table) => !created.has(table)));
  const problems = onExisting.flatMap((statement) =>
    RULES.filter(({ breaks, unless }) => breaks.test(statement) && !unless?.test(statement)).map(
      ({ instead }) => `${statement.slice(0, 100)}: ${instead}`,
    ),
  );
  const locked = [...new Set(onExisting.flatMap(tablesOf))].filter((table) => !created.has(table));
  if (locked.length > 1) {
    problems.push(
      `locks ${locked.join(' and ')} in one transaction: make a migration for each table`,
    );
  }
  if (plain.length > 1 && plain.some((one) => /\bindex concurrently\b/i.test(one))) {
    problems.push('changes an index concurrently: this has to be its only statement');
  }
  return problems;
}

/**
 * The table that the statement changes, or the index that it drops. A table that a foreign key refers
 * to is locked too, but no statement can avoid this.
 */
function tablesOf(statement: string): string[] {
  return TABLE_OF.flatMap((pattern) => pattern.exec(statement)?.[1] ?? []);
}

function withoutComments(statement: string): string {
  return statement.replaceAll(/--.*$/gm, ' ').replaceAll(/\s+/g, ' ').trim();
}
