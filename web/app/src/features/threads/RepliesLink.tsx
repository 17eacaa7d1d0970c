import { inspect } from '../../router.ts'
import { count as figure } from '../../ui/format.ts'

/** Below a message with replies. Opens the branch in the side panel. `more`: later messages are not loaded, so there may be more. */
export function RepliesLink({ messageId, count, more }: { messageId: string; count: number; more: boolean }) {
  return (
    <button type="button" className="mt-0.5 block rounded-sm text-small text-link hover:underline" onClick={() => inspect({ kind: 'thread', id: messageId })}>
      {figure(count)}{more ? '+' : ''} {count === 1 && !more ? 'reply' : 'replies'}
    </button>
  )
}
