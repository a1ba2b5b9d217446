export type Token = {
  text: string;
  line: number;
  /** The comment directly before it. libvirt annotates its procedures there. */
  comment: string;
};

/** Words, numbers and signs. Lines that begin with % are for the C compiler. */
const PATTERN =
  /(\s+|^%.*$)|\/\*([\s\S]*?)\*\/|([a-z_]\w*|-?0x[0-9a-f]+|-?\d+|[{}()[\]<>=;:,*])/imy;

export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let comment = '';
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < source.length) {
    const at = PATTERN.lastIndex;
    const match = PATTERN.exec(source);
    if (!match) throw new Error(`line ${line}: unexpected "${source[at]}"`);
    if (match[2] !== undefined) comment = match[2];
    if (match[3] !== undefined) {
      tokens.push({ text: match[3], line, comment });
      comment = '';
    }
    line += match[0].split('\n').length - 1;
  }
  return tokens;
}
