import { hasLater, MajlisError, type Message, type SpaceState } from '@majlis/client'
import { useMessages, useStore } from '@majlis/client/react'
import { useEffect, useMemo, useState } from 'react'

import { plural, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { startReply } from '../composer/startReply.ts'
import { RowView } from '../timeline/RowView.tsx'
import { branchOf } from './replies.ts'

const PAGE = 200
/** Pages that are searched for replies before the reader is asked. */
const PAGES = 5

/** A message and its replies. The timeline shows them too, in the order in which they were sent. */
export function Thread({ space, messageId }: { space: SpaceState; messageId: string }) {
  const { messages, complete, problem, searchMore } = useMessagesSince(space, messageId)
  const names = useMemo(() => space.members.map((member) => member.name), [space.members])
  const parent = messages?.[0]
  if (!messages || !parent) return <QueryStatus problem={problem} />
  const branch = branchOf(parent.id, messages)
  // A reply to the message at the top does not quote it again.
  const show = (message: Message) => (
    <li key={message.id}>
      <RowView
        row={{ kind: 'message', key: message.id, message: message.replyTo === messageId ? { ...message, replyTo: null } : message, first: true, notices: [], lastSeq: message.seq }}
        space={space}
        names={names}
        target={false}
        openFrom={0}
        replies={0}
        partly={false}
        onReply={startReply}
      />
    </li>
  )
  return (
    <section aria-labelledby="thread">
      <h3 id="thread" className="text-large">{t('Thread')}</h3>
      <ul>{show(parent)}</ul>
      <p className="mt-4 border-b border-line pb-1 text-small text-ink-soft">{branch.length > 0 ? plural(branch.length, '{n} reply', '{n} replies') : complete ? t('No replies') : ''}</p>
      <ul aria-label={t('Replies')}>{branch.map(show)}</ul>
      {problem && <p role="alert" className="mt-3 text-small text-bad">{problem}</p>}
      {!complete && <Button className="mt-4" onClick={searchMore}>{t('Look for later replies')}</Button>}
    </section>
  )
}

/**
 * The message and those after it: from the loaded history if they are there, otherwise fetched page by page. `complete`:
 * there are no later ones.
 */
function useMessagesSince(space: SpaceState, messageId: string) {
  const { client } = useStore()
  const spaceId = space.facts.id
  const { history } = useMessages(spaceId)
  const known = history?.findIndex((message) => message.id === messageId) ?? -1
  const [fetched, setFetched] = useState<readonly Message[]>([])
  const [problem, setProblem] = useState('')
  const [limit, setLimit] = useState(PAGES)
  // The newest part comes from the live history.
  const inHistory = known >= 0 && history !== null && !hasLater(history, space.headSeq)
  useEffect(() => {
    if (inHistory) return
    let wanted = true
    const search = async () => {
      const found = fetched.length > 0 ? [...fetched] : [await client.messages.get(messageId)]
      for (let n = 0; n < PAGES && wanted; n++) {
        const page = await client.messages.list(spaceId, { after: found.at(-1)!.id, limit: PAGE })
        found.push(...page.messages)
        if (wanted) setFetched([...found])
        if (!page.hasMore) break
      }
    }
    search().then(() => wanted && setProblem(''), (error: unknown) => wanted && setProblem(textOf(error)))
    return () => {
      wanted = false
    }
    // `limit` grows when the reader asks for more.
  }, [client, spaceId, messageId, inHistory, limit])
  if (inHistory) return { messages: history.slice(known), complete: true, problem: '', searchMore: () => {} }
  const complete = (fetched.at(-1)?.seq ?? 0) >= space.headSeq
  return { messages: fetched.length > 0 ? fetched : null, complete: complete || fetched.length === 0, problem, searchMore: () => setLimit(limit + PAGES) }
}

const textOf = (error: unknown): string => (error instanceof MajlisError && error.status === 404 ? t('This message is not in this space.') : (error as Error).message)
