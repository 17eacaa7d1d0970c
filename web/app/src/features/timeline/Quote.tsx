import type { History, Message } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect, useState } from 'react'

import { t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { lineOf } from '../markdown/plainText.ts'

/** One line of the message that this one replies to, as a link. */
export function Quote({ spaceId, messageId, history }: { spaceId: string; messageId: string; history: History | null }) {
  const quoted = useMessage(messageId, history)
  return (
    <Link
      href={messagePath(spaceId, messageId)}
      className="mb-0.5 flex max-w-full min-w-0 items-baseline gap-1.5 border-s-2 border-line ps-2 text-small text-ink-soft hover:border-line-strong hover:text-ink"
    >
      {quoted ? (
        <>
          <bdi className="max-w-1/2 shrink-0 truncate font-semibold">{quoted.sender.name}</bdi>
          <bdi className="truncate">{lineOf(quoted) || quoted.kind}</bdi>
        </>
      ) : (
        <span>{t('Earlier message')}</span>
      )}
    </Link>
  )
}

/** From the loaded history if possible, otherwise fetched once. */
function useMessage(id: string, history: History | null): Message | null {
  const store = useStore()
  const known = history?.find((message) => message.id === id)
  const [fetched, setFetched] = useState<Message | null>(null)
  const missing = !known && fetched?.id !== id
  useEffect(() => {
    if (missing) store.client.messages.get(id).then(setFetched, () => {})
  }, [store, id, missing])
  return known ?? fetched
}
