import type { BlockedData, FilesData, MarkerPiece, QuestionData } from '../../../protocol/markers/marker.ts';
import { parseMarkers } from '../../../protocol/markers/marker-stream.ts';
import { ask, emit, emitLog } from '../../../tool/index.ts';

export interface Choice {
  label: string;
  description: string;
}

/** Asks a question of the model and returns the answer as text: the option's number and label, or free text. */
export async function askUser(
  action: 'question' | 'blocked',
  msg: string,
  choices: readonly Choice[],
  context = '',
): Promise<string> {
  const options = choices.map(({ label, description }, index) => ({
    id: String(index + 1),
    label,
    ...(description !== '' && { description }),
  }));
  const answer = await ask(action, {
    msg,
    ...(context !== '' && { context: { text: context } }),
    // Free text other than these is also an answer.
    ...(options.length > 0 && { options, schema: { type: 'string' } }),
  });
  const chosen = options.find(({ id }) => id === answer);
  if (chosen !== undefined) return `option ${chosen.id} (${chosen.label})`;
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}

/**
 * Reports the markers in a model's text, for a model that writes markers instead of calling functions. It asks the
 * questions and returns the answers as the model's next input; undefined without questions.
 */
export async function markersIn(text: string): Promise<string | undefined> {
  const answers: string[] = [];
  for (const piece of parseMarkers(text)) {
    const answer = await report(piece);
    if (answer !== undefined) answers.push(answer);
  }
  return answers.length === 0 ? undefined : answers.join('\n\n');
}

async function report(piece: MarkerPiece): Promise<string | undefined> {
  if (piece.kind === 'text') {
    if (piece.text.trim() !== '') emitLog('info', piece.text);
    return undefined;
  }
  const { name, data } = piece.marker;
  switch (name) {
    case 'PROGRESS':
      emit('progress', { step: 'report', ...data });
      return undefined;
    case 'QUESTION': {
      const { question, options, context } = data as QuestionData;
      const choices = options.map(({ label, description }) => ({ label, description }));
      return `${question}\nAnswer: ${await askUser('question', question, choices, context)}`;
    }
    case 'BLOCKED': {
      const { reason, context } = data as BlockedData;
      return `${reason}\nAnswer: ${await askUser('blocked', reason, [], context)}`;
    }
    default:
      emitLog('info', name, { marker: name, data: data as FilesData });
      return undefined;
  }
}
