import type { BlockedData, FilesData, MarkerPiece, QuestionData } from '../../../protocol/markers/marker.ts';
import { parseMarkers } from '../../../protocol/markers/marker-stream.ts';
import { emit, emitLog } from '../../../tool/index.ts';
import { askUser } from './ask-user.ts';

/**
 * Tells what a model reports in its text by markers, where it does so instead of calling the functions. Its questions are asked; the
 * answers are what to say to it next, undefined when it asked nothing.
 */
export async function markersIn(text: string): Promise<string | undefined> {
  const answers: string[] = [];
  for (const piece of parseMarkers(text)) {
    const answer = await told(piece);
    if (answer !== undefined) answers.push(answer);
  }
  return answers.length === 0 ? undefined : answers.join('\n\n');
}

async function told(piece: MarkerPiece): Promise<string | undefined> {
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
