import { plural, t } from '../../language/words.ts'
import { inspect } from '../../router.ts'

/** Below a message with replies. Opens the branch in the side panel. `more`: later messages are not loaded, so there may be more. */
export function RepliesLink({ messageId, count, more }: { messageId: string; count: number; more: boolean }) {
  return (
    <button type="button" className="mt-0.5 block rounded-sm text-small text-link hover:underline" onClick={() => inspect({ kind: 'thread', id: messageId })}>
      {more ? t('{n}+ replies', { n: count }) : plural(count, '{n} reply', '{n} replies')}
    </button>
  )
}
