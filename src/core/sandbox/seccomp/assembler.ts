/**
 * One instruction of the kernel's packet filter language (BPF), with jump targets by name; null continues with the next
 * instruction.
 */
interface Instruction {
  code: number;
  value: number;
  ifTrue: string | null;
  ifFalse: string | null;
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const RETURN = 0x06;
const JUMP = 0x05;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;

const INSTRUCTION_BYTES = 8;
const LONGEST_JUMP = 255;

type Target = string | null;

/**
 * Assembles a filter program. Conditional jumps reach 255 instructions, so distant targets use an unconditional jump.
 */
export class Assembler {
  readonly #instructions: Instruction[] = [];
  readonly #labels = new Map<string, number>();
  #count = 0;

  /** A unique label. */
  newLabel(): string {
    return `label-${this.#count++}`;
  }

  label(name: string): void {
    this.#labels.set(name, this.#instructions.length);
  }

  load(offset: number): void {
    this.#add(LOAD_WORD, offset);
  }

  and(mask: number): void {
    this.#add(AND, mask);
  }

  return(value: number): void {
    this.#add(RETURN, value);
  }

  ifEqual(value: number, ifTrue: Target, ifFalse: Target = null): void {
    this.#branch(JUMP_IF_EQUAL, value, ifTrue, ifFalse);
  }

  ifAtLeast(value: number, ifTrue: Target, ifFalse: Target = null): void {
    this.#branch(JUMP_IF_AT_LEAST, value, ifTrue, ifFalse);
  }

  ifAnyBit(mask: number, ifTrue: Target, ifFalse: Target = null): void {
    this.#branch(JUMP_IF_ANY_BIT, mask, ifTrue, ifFalse);
  }

  jump(target: string): void {
    this.#instructions.push({ code: JUMP, value: 0, ifTrue: target, ifFalse: null });
  }

  /** The program in the kernel's format: an array of `struct sock_filter`. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(this.#instructions.length * INSTRUCTION_BYTES);
    for (const [index, { code, value, ifTrue, ifFalse }] of this.#instructions.entries()) {
      const at = index * INSTRUCTION_BYTES;
      bytes.writeUInt16LE(code, at);
      if (code === JUMP) {
        bytes.writeUInt32LE(this.#distance(ifTrue!, index), at + 4);
        continue;
      }
      bytes.writeUInt8(ifTrue === null ? 0 : this.#short(ifTrue, index), at + 2);
      bytes.writeUInt8(ifFalse === null ? 0 : this.#short(ifFalse, index), at + 3);
      bytes.writeUInt32LE(value >>> 0, at + 4);
    }
    return bytes;
  }

  #add(code: number, value: number): void {
    this.#instructions.push({ code, value, ifTrue: null, ifFalse: null });
  }

  /** Each condition jumps over at most two following jumps, so that every target is in reach. */
  #branch(code: number, value: number, ifTrue: Target, ifFalse: Target): void {
    const [toTrue, toFalse, onward] = [this.newLabel(), this.newLabel(), this.newLabel()];
    this.#instructions.push({
      code,
      value,
      ifTrue: ifTrue === null ? onward : toTrue,
      ifFalse: ifFalse === null ? onward : toFalse,
    });
    for (const [label, target] of [
      [toTrue, ifTrue],
      [toFalse, ifFalse],
    ] as const) {
      if (target === null) continue;
      this.label(label);
      this.jump(target);
    }
    this.label(onward);
  }

  #short(label: string, from: number): number {
    const distance = this.#distance(label, from);
    if (distance > LONGEST_JUMP) throw new Error(`Internal: the jump to ${label} is too far`);
    return distance;
  }

  #distance(label: string, from: number): number {
    const at = this.#labels.get(label);
    if (at === undefined || at <= from) throw new Error(`Internal: no label ${label} ahead`);
    return at - from - 1;
  }
}
