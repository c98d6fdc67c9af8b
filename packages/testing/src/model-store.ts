/** A claim that the model has granted. */
export interface ModelClaim {
  readonly id: string;
}

/** What the promises of a store come to, without time, I/O or anything else that could go wrong. */
export interface ModelStore {
  /** `ranOut`: the lease ends at once, with nobody knowing. */
  claim(id: string, ranOut: boolean): 'done' | 'busy' | ModelClaim;
  /** In a transactional store a claim that cannot be committed is refused by an error. */
  done(claim: ModelClaim): boolean | 'rejected';
  release(claim: ModelClaim): void;
  extend(claim: ModelClaim, ranOut: boolean): boolean;
  forget(id: string): boolean;
  /** Whether a claim of this id would have to wait for that of another. */
  isTaken(id: string): boolean;
  /** What is known of the id: nothing is in question once it is done. */
  isDone(id: string): boolean;
}

/**
 * A store reduced to its rules: for each id, who holds it and who marked it. The contract plays random calls on it and
 * on a real store, and the two have to agree on every answer.
 */
export function modelStore(transactional: boolean): ModelStore {
  const holders = new Map<string, { readonly claim: ModelClaim; ranOut: boolean }>();
  const marks = new Map<string, ModelClaim>();
  const holds = ({ id }: ModelClaim, claim: ModelClaim): boolean => holders.get(id)?.claim === claim;

  return {
    claim(id, ranOut) {
      if (marks.has(id)) return 'done';
      const holder = holders.get(id);
      if (holder && !holder.ranOut) return 'busy';
      const claim = { id };
      holders.set(id, { claim, ranOut });
      return claim;
    },
    done(claim) {
      if (holds(claim, claim)) {
        holders.delete(claim.id);
        marks.set(claim.id, claim);
      }
      const stands = marks.get(claim.id) === claim;
      return transactional && !stands ? 'rejected' : stands;
    },
    release(claim) {
      if (holds(claim, claim)) holders.delete(claim.id);
    },
    extend(claim, ranOut) {
      if (!holds(claim, claim)) return false;
      holders.set(claim.id, { claim, ranOut });
      return true;
    },
    forget(id) {
      return [holders.delete(id), marks.delete(id)].includes(true);
    },
    isTaken: (id) => [...holders.keys()].some((held) => held !== id),
    isDone: (id) => marks.has(id),
  };
}
