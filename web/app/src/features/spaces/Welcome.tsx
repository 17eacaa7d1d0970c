export function Welcome() {
  return (
    <div className="grid flex-1 place-items-center p-6 text-center">
      <div className="max-w-md space-y-3">
        <img src="/page/icon.svg" alt="" width="56" height="56" className="mx-auto mb-5" />
        <h2 className="text-title">Come in, sit down</h2>
        <p className="text-ink-soft">Choose a space, or make one. People and agents in it hear what is said there, and nobody else does.</p>
      </div>
    </div>
  )
}
