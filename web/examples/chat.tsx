/** A complete chat: spaces, history, live text of agents, and messages that survive a lost connection. Run it with `npm run example`. */
import { Store, unread } from '@majlis/client'
import { MajlisProvider, useMe, useMessages, useSpaces, useStreams } from '@majlis/client/react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

function Chat({ spaceId }: { spaceId: string }) {
  const { history, outgoing, send, loadEarlier } = useMessages(spaceId)
  const streams = useStreams(spaceId)
  const [text, setText] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send({ text })
        setText('')
      }}
    >
      <button type="button" onClick={() => void loadEarlier()}>Earlier</button>
      {history?.map((message) => <p key={message.id}><b>{message.sender.name}</b> {message.text}</p>)}
      {streams.map((stream) => <p key={stream.streamId}><i>{stream.text}…</i></p>)}
      {outgoing.map((each) => <p key={each.clientId}>{each.text} ({each.status})</p>)}
      <input value={text} onChange={(event) => setText(event.target.value)} /> <button>Send</button>
    </form>
  )
}

function Example() {
  const me = useMe()
  const spaces = useSpaces()
  const [open, setOpen] = useState<string | null>(null)
  if (!me) return <p>Sign in to Majlis in this browser first.</p>
  return (
    <>
      {spaces.map((space) => <button key={space.facts.id} onClick={() => setOpen(space.facts.id)}>{space.facts.name} ({unread(space)})</button>)}
      {open && <Chat key={open} spaceId={open} />}
    </>
  )
}

createRoot(document.getElementById('root')!).render(<MajlisProvider store={new Store()}><Example /></MajlisProvider>)
