import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Throws the protocol error for a cursor that is not the `nextCursor` of a page of the list. A list without pages has none. */
export function checkCursor(
  cursor: string | undefined,
  isCursor: (cursor: string) => boolean = () => false,
): void {
  if (cursor === undefined || isCursor(cursor)) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'the cursor is not the nextCursor of a page of this list',
  );
}
