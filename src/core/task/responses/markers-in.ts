import type { BlockedData, FilesData, MarkerPiece, QuestionData } from '../../../protocol/markers/marker.ts';
import { parseMarkers } from '../../../protocol/markers/marker-stream.ts';
import { emit, emitLog } from '../../../tool/index.ts';
import { askUser } from './ask-user.ts';

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
