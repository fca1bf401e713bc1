const TAG = '    ';
const BODY = ' '.repeat(12);
const SYMBOLS: Readonly<Record<string, string>> = {
  aq: "'",
  cq: "'",
  oq: "'",
  dq: '"',
  lq: '"',
  rq: '"',
  ga: '`',
  ha: '^',
  ti: '~',
  rs: '\\',
  hy: '-',
  en: '-',
  em: '-',
  mi: '-',
  bv: '|',
  lB: '[',
  rB: ']',
  lC: '{',
  rC: '}',
  la: '<',
  ra: '>',
  bu: '*',
  ci: '*',
};
/** An escape with a name in brackets, of two characters, or of one character. */
const ESCAPE =
  /\\(?:([fF*mMkgnVY])(?:\[[^\]]{0,80}\]|\(..|.)|\[([^\]]{0,80})\]|\((..)|s[-+]?\d{1,2}|[hvwlLxbDoNXZRASH]'[^']{0,80}'|(.))/g;
const PARAGRAPH = /^(?:PP|P|LP|Pp|sp|HP)$/;
const FONTS = /^(?:B|I|SM|SB|R|CW)$/;
const MIXED_FONTS = /^(?:BI|BR|IB|IR|RB|RI)$/;

/**
 * The lines of a manual page in the form of a help text: the headings at the margin, an option on a line of its own, its
 * description below it and further in. Reads the macros `man` and `mdoc`; ignores every request that runs or includes
 * something.
 */
export function roffLines(roff: string): string[] {
  const page = new Page();
  const lines = roff.replaceAll('\r', '').replace(/\\\n/g, '').split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.replace(/\\["#].*/, '');
    const [, macro = '', rest = ''] = /^[.'][ \t]*(\S+)[ \t]*(.*)$/.exec(line) ?? [];
    if (macro === 'de' || macro === 'ig' || macro === 'am') at = endOfDefinition(lines, at);
    else if (macro === 'if' && /^t\b/.test(rest) && rest.includes('\\{')) at = endOfBlock(lines, at);
    else if (macro !== '') page.macro(macro, rest);
    else if (!/^[.']/.test(line)) page.text(plain(line));
  }
  return page.finish();
}

function endOfDefinition(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, index) => index > start && /^\.\.\s*$/.test(line));
  return end < 0 ? lines.length : end;
}

function endOfBlock(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, index) => index > start && line.includes('\\}'));
  return end < 0 ? lines.length : end;
}

/** What has been read of a page. */
class Page {
  readonly #lines: string[] = [];
  /** The words of the paragraph that is not ended yet. It is a tag when what follows it is further in. */
  #paragraph: string[] = [];
  #expectsTag = false;
  /** The text that follows is a tag if it begins with an option. */
  #isBullet = false;
  #isExample = false;
  #isSynopsis = false;

  macro(name: string, rest: string): void {
    if (/^(?:SH|SS|Sh|Ss)$/.test(name)) this.#heading(argumentsOf(rest).join(' '));
    else if (/^(?:nf|EX|Bd|SY)$/.test(name)) this.#example(true);
    else if (/^(?:fi|EE|Ed|YS)$/.test(name)) this.#example(false);
    else if (name === 'TP' || name === 'TQ') {
      this.#endParagraph();
      this.#expectsTag = true;
    } else if (name === 'IP') this.#itemOf(argumentsOf(rest)[0] ?? '');
    else if (name === 'It') this.#tag(mdoc(rest));
    else if (name === 'RS') this.#endParagraph(this.#paragraph[0]?.startsWith('-') === true);
    else if (name === 'RE' || PARAGRAPH.test(name)) this.#endParagraph();
    else if (FONTS.test(name)) this.text(argumentsOf(rest).join(' '));
    else if (MIXED_FONTS.test(name)) this.text(argumentsOf(rest).join(''));
    else if (name === 'Nd') this.text(`- ${argumentsOf(rest).join(' ')}`);
    else if (
      rest !== '' &&
      /^(?:Fl|Ar|Op|Nm|Cm|Ic|Pa|Ev|Li|Oo|Oc|Xo|Xc|Ql|Dq|Sq|Pq|Em|Sy|Xr|Dv|Va)$/.test(name)
    )
      this.text(mdoc(`${name} ${rest}`));
  }

  text(words: string): void {
    const text = words.trim();
    if (text === '') {
      if (!this.#isSynopsis) this.#endParagraph();
      return;
    }
    if (this.#expectsTag || (this.#isBullet && text.startsWith('-'))) {
      this.#tag(text);
    } else if (!this.#isExample || this.#isSynopsis) this.#paragraph.push(text);
  }

  finish(): string[] {
    this.#endParagraph();
    return this.#lines;
  }

  #heading(title: string): void {
    this.#endParagraph();
    this.#isExample = false;
    this.#isSynopsis = /^synopsis$/i.test(title);
    this.#lines.push('', this.#isSynopsis ? 'Usage:' : `${title}:`);
  }

  /** What is set as it stands is an example, except for the calls in the synopsis. */
  #example(isExample: boolean): void {
    if (!this.#isSynopsis) this.#endParagraph();
    this.#isExample = isExample;
  }

  /** An item with a bullet has its tag in the text that follows. */
  #itemOf(mark: string): void {
    this.#endParagraph();
    if (/^[A-Za-z0-9-]/.test(mark)) this.#tag(mark);
    else this.#isBullet = mark !== '';
  }

  #tag(text: string): void {
    this.#endParagraph();
    this.#lines.push('', TAG + text.replace(/^(-{1,2}[^ ,:/]+) ?\/ ?(?=-)/, '$1, ').replace(/:$/, ''));
  }

  #endParagraph(isTag = false): void {
    this.#expectsTag = false;
    this.#isBullet = false;
    const words = this.#paragraph.join(' ');
    this.#paragraph = [];
    if (words === '') return;
    if (isTag) this.#tag(words);
    else this.#lines.push((this.#isSynopsis ? TAG : BODY) + words);
  }
}

function argumentsOf(rest: string): string[] {
  return [...rest.matchAll(/"((?:[^"]|"")*)"?|(\S(?:\\ |\S)*)/g)].map(([, quoted, bare]) =>
    plain(quoted?.replaceAll('""', '"') ?? bare ?? ''),
  );
}

/** The text of a line without escapes. Those that name a file or a command stand for nothing. */
function plain(line: string): string {
  return line.replace(ESCAPE, (_whole, register, long, short, single) => {
    if (register === '*') return /Aq|aq/.test(_whole) ? "'" : '';
    if (register !== undefined) return '';
    const symbol = long ?? short;
    if (symbol !== undefined) return SYMBOLS[symbol] ?? '';
    if (single === 'e' || single === '\\') return '\\';
    if (single === '~' || single === ' ' || single === '0') return ' ';
    return single !== undefined && '-.\'`_"'.includes(single) ? single : '';
  });
}

const CLOSING: Readonly<Record<string, string>> = { Op: ']', Oo: '', Dq: '"', Sq: "'", Ql: "'", Pq: ')' };
const OPENING: Readonly<Record<string, string>> = { Op: '[', Dq: '"', Sq: "'", Ql: "'", Pq: '(' };

/** The words of a line of `mdoc`: `Fl o Ar file` is `-o file`. */
function mdoc(rest: string): string {
  let text = '';
  let closing = '';
  let isFlag = false;
  let isJoined = true;
  const add = (word: string) => {
    text += isJoined || /^[,.:;)\]]+$/.test(word) ? word : ` ${word}`;
    isJoined = false;
  };
  for (const word of argumentsOf(rest)) {
    if (word === 'Fl') isFlag = true;
    else if (word === 'Ns') isJoined = true;
    else if (word === 'Oo' || word === 'Oc') {
      add(word === 'Oo' ? '[' : ']');
      isJoined = word === 'Oo';
    } else if (OPENING[word] !== undefined) {
      add(OPENING[word]);
      closing = CLOSING[word] + closing;
      isJoined = true;
    } else if (/^(?:Ar|Cm|Ic|Pa|Ev|Li|Nm|Em|Sy|Dv|Va|Xo|Xc|No)$/.test(word)) isFlag = false;
    else if (word !== '|' && isFlag && /^[A-Za-z0-9-]/.test(word)) add(`-${word}`);
    else add(word);
  }
  return text + closing;
}
