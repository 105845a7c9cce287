"""Draws the call sites of ruby.tsv: draw_ruby.py CHECKOUT NAME SEED N_LIBRARY N_TEST, with tree_sitter and tree_sitter_ruby."""
import sys,os,random
import tree_sitter as ts, tree_sitter_ruby
P=ts.Parser(ts.Language(tree_sitter_ruby.language()))
root,name,seed,nlib,ntest=sys.argv[1],sys.argv[2],int(sys.argv[3]),int(sys.argv[4]),int(sys.argv[5])
HARD={'program','method','singleton_method','class','module','singleton_class'}
SOFT={'block','do_block','lambda'}
PARAM={'method_parameters','block_parameters','lambda_parameters','destructured_parameter','optional_parameter','keyword_parameter','splat_parameter','hash_splat_parameter','block_parameter'}
LEFT={'left_assignment_list','destructured_left_assignment','rest_assignment','exception_variable','array_pattern','find_pattern','as_pattern'}
def sites(path,data):
    out=[]
    def field(p,n):
        for i,c in enumerate(p.children):
            if c.id==n.id: return p.field_name_for_child(i)
    def known(sc,t):
        for names,hard in reversed(sc):
            if t in names: return True
            if hard: return False
        return False
    def walk(n,sc,p):
        t=n.type
        if n.is_named and t in HARD: sc=sc+[(set(),True)]
        elif n.is_named and t in SOFT: sc=sc+[(set(),False)]
        if t=='call':
            m=n.child_by_field_name('method')
            if m is not None and m.type in('identifier','constant'):
                out.append((m.start_point,data[m.start_byte:m.end_byte].decode()))
        if t=='identifier' and p is not None:
            f=field(p,n); s=data[n.start_byte:n.end_byte].decode()
            if p.type in PARAM and f in(None,'name','locals'): sc[-1][0].add(s)
            elif p.type in('assignment','operator_assignment') and f=='left' or p.type in LEFT or p.type=='for' and f=='pattern':
                if not known(sc,s): sc[-1][0].add(s)
            elif p.type=='call' and f=='method' or p.type in('method','singleton_method','setter','alias','undef') : pass
            elif not known(sc,s): out.append((n.start_point,s))
        if t=='super' and not(p.type=='call' and field(p,n)=='method' and False):
            out.append((n.start_point,'super'))
        for c in n.children: walk(c,sc,n)
    sys.setrecursionlimit(100000)
    walk(P.parse(data).root_node,[(set(),True)],None)
    return [(path,r+1,c,s) for (r,c),s in out]
SKIP={'private','protected','public','attr_reader','attr_accessor','attr_writer','require','require_relative','module_function','lambda','proc','it','describe','context','let','expect','test','alias_method','autoload','private_class_method','private_constant','raise','include','extend'}
lib,test=[],[]
for d,_,fs in os.walk(root):
    for f in sorted(fs):
        if not f.endswith('.rb'): continue
        p=os.path.relpath(os.path.join(d,f),root)
        s=[x for x in sites(p,open(os.path.join(root,p),'rb').read()) if x[3] not in SKIP]
        segs=p.split('/')[:-1]
        (test if any(x in('test','spec','examples') for x in segs) else lib).extend(s)
lib.sort();test.sort()
rnd=random.Random(seed)
pick=sorted(rnd.sample(lib,nlib))+sorted(rnd.sample(test,ntest))
for p,l,c,s in pick: print('\t'.join([name,p,str(l),str(c),s]))
