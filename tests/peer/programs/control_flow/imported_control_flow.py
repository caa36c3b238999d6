# program: gradients of an imported loop
# not in 2.21: ops values
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO1Ur*FP5Wl@%;g}OR1`yZ><DbN6%|Uwv#l{E4V8jS9V0<z*^}2FRN{`(2;CS%W_$~Z!egP8`pWU{%-EMo}gS_l^c4vO`o0**{+%cxCb!%(gY_FW9AFY08v(;|5j<=qg-ebn_$1E5?M%Z{4xE<E*1s>}g4bZ*l;*??4B(X5)y0KtaV%_jkT}{>9g2s8*57@@bUO0$QPc~H_K|gbYA;X!S>AHp$n^fSdFxw3y)<-?rXdcQ~fQCPCI`Ov~Mp%7NF{XjMPaxM|@zm|RLBImX=az2db3LrCf^iSvOW!?VPRJKr#>EsfS!1+_jUpJrY|g!72?Atvg<JC9ZeNS2_gVj#p`L6sp9wm)JK*Yj!b42pfP1NC34j9;Kmrj5kYcG}(d7wfjwJ&Uz+eNUs&Cm~fVFs~d9Ji6uTyl%Wdx<mET3UHpXB<=cpv7*o_oDh{%Sm|i!Yjs2R_1$R608MqfQs6(p`<P03})8f+?pHxI8aQfY=Or9s7CC5IzeQDJn09z*lQ@nFnIr&OF?NCB&i!$AV4aW6xt@<VP1+7hhEIZd<Z2PefsaDyJsRnks2&NZ^%tr>^I1T#TEV&VN$T{?+9KwqYj2LH&j2eQ47{95nAqQhz2aPlf?%`@?{iLZS1ShWa82oI~;Mss<<5*Wix??IS-#jW1=|lI3PD%W(&%`H^u`i6xD;VbX-aSw*BW?fH~Wo(4tRJSpk-p%@UmBR|4gyi%p9q@$MTwpfYdr^<yM$&l}A^>5_vcYQq2L@M!54S(0*R}Cg5x(TbqXsYdGo9%qR*`{5{y>0H~h;eByPt!Kv{M0}TZBzL-aB*Ilsr*1efdUGYyaE>AfIO2UQ{u*F5=VvyYIv$>37X@HA$f}fYhwMm-pa&h!7m!w`;%dgr%X|{pg2y<(upM)C%rE5xhSJao*fq#3JomP`4Jbik!|8?x|MZtEvY0<$nv3D-NRya{{kO0yI}")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
x, y = tensor("x:0"), tensor("while/Exit_1:0")
with tf.Session() as sess:
    before = sess.run(y, {x: 0.7, "n:0": 4})
    gradient = tf.gradients(y, x)[0]
    scaled = tf.gradients(tf.square(y), [x], grad_ys=[tf.constant(2.0)])[0]
    values = sess.run([y, gradient, scaled], {x: 0.7, "n:0": 4}), sess.run([y, gradient], {x: 0.7, "n:0": 0})
graph = tf.get_default_graph()
result = before, values, error(tf.gradients, gradient, x), [op.name for op in graph.get_operations() if not graph.is_fetchable(op)], [
    t.name for op in graph.get_operations() for t in op.outputs if not graph.is_feedable(t)]

# program: operations added to an imported loop
# not in 2.21: ops values error
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO1Ur*FP5Wl@%;g}OR1`yZ><DbN6%|Uwv#l{E4V8jS9V0<z*^}2FRN{`(2;CS%W_$~Z!egP8`pWU{%-EMo}gS_l^c4vO`o0**{+%cxCb!%(gY_FW9AFY08v(;|5j<=qg-ebn_$1E5?M%Z{4xE<E*1s>}g4bZ*l;*??4B(X5)y0KtaV%_jkT}{>9g2s8*57@@bUO0$QPc~H_K|gbYA;X!S>AHp$n^fSdFxw3y)<-?rXdcQ~fQCPCI`Ov~Mp%7NF{XjMPaxM|@zm|RLBImX=az2db3LrCf^iSvOW!?VPRJKr#>EsfS!1+_jUpJrY|g!72?Atvg<JC9ZeNS2_gVj#p`L6sp9wm)JK*Yj!b42pfP1NC34j9;Kmrj5kYcG}(d7wfjwJ&Uz+eNUs&Cm~fVFs~d9Ji6uTyl%Wdx<mET3UHpXB<=cpv7*o_oDh{%Sm|i!Yjs2R_1$R608MqfQs6(p`<P03})8f+?pHxI8aQfY=Or9s7CC5IzeQDJn09z*lQ@nFnIr&OF?NCB&i!$AV4aW6xt@<VP1+7hhEIZd<Z2PefsaDyJsRnks2&NZ^%tr>^I1T#TEV&VN$T{?+9KwqYj2LH&j2eQ47{95nAqQhz2aPlf?%`@?{iLZS1ShWa82oI~;Mss<<5*Wix??IS-#jW1=|lI3PD%W(&%`H^u`i6xD;VbX-aSw*BW?fH~Wo(4tRJSpk-p%@UmBR|4gyi%p9q@$MTwpfYdr^<yM$&l}A^>5_vcYQq2L@M!54S(0*R}Cg5x(TbqXsYdGo9%qR*`{5{y>0H~h;eByPt!Kv{M0}TZBzL-aB*Ilsr*1efdUGYyaE>AfIO2UQ{u*F5=VvyYIv$>37X@HA$f}fYhwMm-pa&h!7m!w`;%dgr%X|{pg2y<(upM)C%rE5xhSJao*fq#3JomP`4Jbik!|8?x|MZtEvY0<$nv3D-NRya{{kO0yI}")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta, import_scope="in")
inner = tensor("in/while/Identity_1:0")
context = inner.op._get_control_flow_context()
outside = tf.placeholder(tf.float32, [], name="outside")
context.Enter()
a = inner * outside
b = tf.constant(3.0)
with tf.control_dependencies([a]):
    c = tf.identity(b) + 1.0
gradients = tf.gradients(tensor("in/while/mul:0"), [inner, outside]), tf.gradients(c * a, [b, outside])
context.Exit()
result = (context.name, context.outer_context, context.back_prop, context.parallel_iterations, context.swap_memory, context.pivot, context.loop_exits, context.loop_enters,
          context.IsWhileContext(), context.IsCondContext(), str(context), type(context).__name__, gradients, error(tf.identity, a), error(lambda: inner + 1.0))

# program: a loop over a variable, trained after import and after restore
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pmBPj4GV6!&;zck_}q&cr2QB&rZDtwmycN+2wyB|$|EYN9F)IUrPP<6V+f*6YY#*UpI(NSqK75-Q(-FTssl`kk2F_3ZrFwG$LLc-J%g-uu1(ZwB74m75#Q&5Z_Kex3YT@3kMUQ@Vb#`Dw%X*md!b1YW?xu<iw3=-Gbjwe1gFT>7#b^uyX5l$`M5+{MKPsy%>G@^N+No{6xDi)JzUtyKzz!jrd`&;NRRdHMMtZ{9qHZvYK39N9h3KK9)sstQ_!x&Eo$bDdUTci0v#)Rv&cw%B*DQn|GSm~D51(Dnki7g0d~=CHoq?|UZ!E+=n-hD6uCR)st4kLTE-+e*Y1@5iu%zT5J<?K3YpiMMV6I*e7SLb=uU?S3Bvn7GVntS^S}5tN7Zo@+bU+;!X_^uh~<cNG@}G{SQ)e7o(Qc74a~sn+M23OleeJoS9H-mynsXV7VRq1&@Vk3}IT7Df&8Sj_I+G7Vg?5WqGpCo)prR=Yb0*y5TZ3a|-tiHMl~+H5}~&i6Edi(h1tI#DFNK3g&2b`Y{i6u3`~+PkoHZue~8cYWCj#TBFW0l@b?mN7}%+{H_Y{P-D33*Au&KfrBCl~$80BOCU=DlkwLpj-hongWY%4Ev0SV9)KHumX->L=FoX^X)V8U5*ebu+LD6sRLl28xV_#JebH*{YviUNNY8PAGu&%9?g|U^X1Wueh4gpg!H+~DsLuw64`cA5uX$3!nR)!WWMqMO{~Cd+>kKyI>DI|T=)v^2!&eB`o*~F$ownGrmJeufJZPd%NhGcjU>^agkQE&w{%auw(V~R4hHd`NFFB&4t$vE-|e0=%~`MH|42qAe8;tXIrPHzDJ~~(HGY~v;p=;8zpVnsm89PaMmXlWBvP3dxcmuz$RMny2=71@V;zCnt7Fi73_1w|U5P>AA;;iTN18thx+UrjKH(wcq|AK5R#6=@osmvtq=FH#)E$S-b{vtn3$IjZSEVju$v2zI!KH1-IZC~ksv#o@)t~X!!uI9b`S&_JmTZYyUZO?DqeR6Mnw;^(-m}BKfsf0{J0pP-EYqp|DL$iwJv->1ciBnBjwgh&bsTN68J8o3x3Te&WlGaRH*Q*rw<!0P;sLTKQD|nu1!TWYo0I6jo0IqX^f<JGQ#=zriENBeatrbXCcdpKiAY_M438jxIO@D|$_ehz^0}$bE!iQIe!$IpI`Tq16FrI2as|#hPuYklniw&$)<Gwc(_C`Ndv!26tPYGQ6%<BwC6D#e<WuK+ykx68n3e2IeD5&Xy`zBGk2&0UIq2Z%K_XZ(mceciXRdqRa=cDIE+&APL(duU14@j%W|%*rwOv?ZW#$FZg@s)slAB8(Q`~?JFosqGr*{uxCM9My=%RM@uo_!v?N4*umUz<P-%b3R3BQ_<my#7@1+Ai5MV%K+xI9p-hNZO<tFa?_lCAE@(bU$|YJB~78B)cSGb&pyC}%r;gK>j`1sWD;Sdh_`cP!CLbM~m%6UQ@w9qkF({17A1lO0J$dhU?8QujhN+e3w{WLG$990YaQ<Zc=t4us$MhDJek3N}x3tDVs;=eCeZAE;1$d^FJ4P0-H(jm(ZtLo+my!t<i>2#>^*nJq<66Sj`0r9vFzFJ-2HN)zFeNyl>b%^0z|Toq}Jb7P80LYRk!rvl)dY&=j)=Rhx=1HE*<odU4-1ZHp4Z2ke{2Qd8")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
import tempfile
path = tempfile.mkdtemp() + "/model"
tf.train.import_meta_graph(meta)
y, feed = tensor("Sum:0"), {"x:0": np.ones([2, 2], np.float32)}
step = tf.train.AdamOptimizer(0.05).minimize(y, name="step")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    first = [sess.run([y, step], feed)[0] for _ in range(3)]
    tf.train.Saver().save(sess, path)
    second = [sess.run([y, step], feed)[0] for _ in range(2)]
with tf.Graph().as_default() as graph, tf.Session() as sess:
    tf.train.import_meta_graph(path + ".meta", import_scope="s").restore(sess, path)
    again, feed = graph.get_tensor_by_name("s/Sum:0"), {"s/x:0": np.ones([2, 2], np.float32)}
    third = [sess.run([again, graph.get_operation_by_name("s/step")], feed)[0] for _ in range(2)]
    more = tf.train.GradientDescentOptimizer(0.05).minimize(again)
    fourth = [sess.run([again, more], feed)[0] for _ in range(2)]
    names = [v.name for v in tf.global_variables()]
    contexts = [c.name for c in graph.get_collection("while_context")]
result = first, second, third, fourth, names, contexts

# program: first and second gradients of imported conditionals
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO1-A)rh6yDjTWqV4gj0MRgCP<9YO@M6?4eJF2V}uxtiCo(>y8|>XZPRYCTzcaJc<rT$kKj}I0463rfzP1R*`Jx+ol-C~%}nRaoHO6~&iSTr&nni}>s#w~<IZ{bW3BIQt~DBKCtKUL_k>dXqYO_0jd1ym-*V|`*Y{}ODnr2wE_xK}HnNtXFgR_oMb)X`viUduAg}=SCOX1+5jyIQ2KS-tc01n2+Yjx)J;lXvCaA~0)-0f-u?y6p!cPtOZZp8<fk!(*JGdYf$=#_7myNW`vE(A(C>-v?9JlxS)N8gq>AZ|&AAp~F-t7zmT;LO#f0sfhr)yYCP&jY-Ly9YVWz)bjST~V_G&lk?#4$X>1{=siyiBqo(p^>+O7AJ{HNE!P0P7Dm3t;A`?Tz>)5k3S5P|bu9oQ_B;!^Fv|L9yxjt-$~Tn7HV7U1xU$uV9`Zf7z$4fc7^ou8=OW7UOj1_P|6~vt~3++W{wHHwuPlqaP$8fn;tIIqkqLzNKoERMhlJ6zv&c5kS#HI2&GWq-}+>+)X)b!u2sMh|PRoO+b4XbuJ&yhCVh9hdx<K*+h#>unYEFsHu)53@X|#k9u0KY|5BljC$B$1F5BK8G16v#DSYdwjT+C4~MjWLUDmlB#oG)Ngs!OjrC<+z<m@8w%uWZZFfjDUgk1ORG94jw+eTo2PXwR0Yb9LiEwcOtA_art^O&60&KD&prZi)D&e0c_+myP=X-o(UPkBG(G9U`9D4;>pN&Y({5^2&NS}#xnI$D=w$9fw%8QxU_L8a*n7x{^Cvil+DpMWug0>a5I!q9cd@Zvx=i9lyW5!zkT~Jzsgb(4HWfhE(W8>v;%9DjxvJtX%YJAh-t1bf-B~_s(N}Q~?zmcj~H_cR%@&m<fDgrEJWMyjjZWww3=7_091yjxXRk>o7p3c<et$dB1;^|z6fvd8bXDWsHJCgo-V}>q$AjZ6WOn6D2KNbsO(=;_4tJNUIny!X_M%z1`")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta, import_scope="c")
x, y = tensor("c/x:0"), tensor("c/cond/Merge:0")
first = tf.gradients(y, x)[0]
second = tf.gradients(first, x)[0]
with tf.Session() as sess:
    result = [sess.run([y, first, second], {x: value, "c/p:0": p}) for value in ([0.3, 0.4], [0.3, 0.1]) for p in (True, False)]

# program: operations added to an imported branch
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-o~@O>fgc5cS%PaVKp;rbSei5GCpXEVXeA1!@lc015R_R8*8>Efa533)hKkr%rEh;m&X2z?ENs#F-m^1UCM*Q(6I4RC{Ok&Aj(^)^JY|yBpoj4OP2+9>1)6{fFzCwm#V0Qmx07;^%pI0%U^qL&xmX)1hNgPpL!A3NA(zd6g(DQ1eeswrJ{$SeJgKe*_dDqdx*+x`=_i&cO?4h8^3r1KV_rbJH19tUVvPeo$_92WoM0c@HImbI414TjIE{+Z@O3z-u5OLeKPU^Q}XBS{dAeI&0`r%W%yz7D7&GrW`~)s>K5H{h=F}woAR~4sbyVJG;Jb4_p-Er%Xb*%63|O>{G)T_TSm=0QvhwS%wD7*_IhlBT>qtH-Nl}=q!V1^c~ap5kNwbA@!XQ9)TEkJZf4f?OW6h?BIg+yAHJmbw=Cj9EEn!KSeQq%4EcTDHfm$i_tDW${InT#bN=jcXLRm3^^%4iXC&n8Z1Qd(bQ+Vq@uuN2c&4%+1NqhVC=}PbeVCGmntEnn-e3j56wzGS3QwS9IiHR0*BC=X_XaAPUCMXhVT*~+HP7_=OP(oxp7=FzdW0_(!pNX12)*4GRJZ6x8Ygh6Dx$ZUCZiem)as1+T|8KNWe$7ivs&6H`8V1)N(iT+&{aym1sYp-hf@==pkoB<m}w@I_%{Y@+&;-C9@M@*cl|?Dm6LtWVS|IkUo<3J}d<uyTjA30K1>@=fFn|RoDO_)K$zbwJgO4tgBk9a;J6mDQR!R{QnjBDa5Lb>34-r0{kxEHvvBJ(1>J2xhT;n+N`UI?sQ&sb(JVTNMccR)Vi9_8GE0-LvY!!Bp4QCm`YEm_Jm9w2oomzZXUqPisMSWZ<Y(LR-07?!xsWK%bu_yxYCsqT~$7iM0q|TnK3MMoye0^T8VkF*7eMP1E#(N&;")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
inner = tensor("cond/mul:0")
context = inner.op._get_control_flow_context()
seven = tf.constant(7.0, name="seven")
context.Enter()
a = inner * seven
b = tf.constant([1.0, 2.0]) + a
n = tf.no_op(name="nothing")
context.Exit()
outside = tf.identity(b)
gradient = tf.gradients(outside, [seven, tensor("x:0")])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    values = sess.run([outside] + gradient, {"x:0": [0.3, 0.4], "p:0": True})
    dead = error(sess.run, outside, {"x:0": [0.3, 0.4], "p:0": False})
    inside = error(sess.run, b, {"x:0": [0.3, 0.4], "p:0": True})
result = values, dead, inside, context.name, context.branch, context.pred, context.pivot, type(context).__name__, context.outer_context

# program: gradients of an imported conditional over a resource variable
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pm8%Wl(95cPE)xRW+1(^f4P6_uzGU@5f|RG?<j2S`w%Qben&3q)jMr?uodk?qzgE7-6`V$F_!V9SC(;Dg}CZ>M=k2(pOpW6sQ(b7ux_i^cj{eSJ-CEM5eQn%%lzYcy&n>l?E6K-ckS2_6FJVd<5rw)E4Esp+;@f`aB=c6H=sA}&F}IaS%FqRe1P_#OQSh(Nj{fzaOsKwjaX4L3b$*D_o~HI4VWEg8YOd7+x;Iu@REEXU0To`+(yWvY&Y00I`xPD|PH#APT1kog@H2<DL&_^QBhKQ=jz+X4fKhovLcey&=Ysqc5QJ`qZcldWq_OFh#uhr}BZrxLL*Dt-)hFxBc<u4-7ijXZMj7^*BKCrL_^SlrCPei!lT86_U<g5XKpj$@oyI2(MKp`pI(b7lr~oLrfl*!wMb(raDS{J+Etma}{2H49vY63a-F4m`tconkTgQo<~|;x!<L{bz(a%=lK0f7^6X*wu8)HQY-&lY%St1R`Z2?Gz*(F#)W?w13|1zl@=!?9)t+VbQlbJ2xk#x-!BrA)8U+7;cRRB;t59Lp5SIKfH|KDF~5g%<Y|<^m-g9qC!Vy75OHtS}Fsugivodq2c}0gF~3}&Ht@{&j5UYs%g??*v+*3Hd8p+PF#rkczOp|A9G@!<34P%rV=7YSlHIIqXr$um!`rcGTjTo2Zn_?_D3txcA(-CMU%U~R&*oGeNVSf*d+5mG$umh_fPz=#Y^Ouc-RT+-p4fS5qOXqjWvm(v9oGU_(ZC0m~(A5n)>Rn84<|j;6Cob3&?qjjPbaki$kY{BHtyA<uOA?ksp!j8<_f!-oNDoJ(~SNtM^>|lE=?^_{Brn7r?*sFUsi$QshvvsL~X9g@|8ySQt_{iX3Y0*ACmomBiK)s~&EQuwdY;ogMmSN9=llG7M7og@jy>skt&}JeV)u31pwh7ncH$L%4k>Fq>7C72sH1+lnlHBw?OOb;cU9qe*$TqZBi|(!M4q{|9(@lq&")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
w = tf.global_variables()[0]
ys = [tensor("cond/Merge:0"), tensor("cond/Merge_1:0")]
gradients = tf.gradients(ys, [tensor("x:0"), w])
step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.square(ys[0])))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(gradients, {"x:0": [0.3, 0.5], "p:0": p}) for p in (True, False)], [
        sess.run([ys[0], step], {"x:0": [0.3, 0.5], "p:0": p})[0] for p in (True, False, True)], sess.run(w)

# program: conditionals in an imported loop, gated and colocated
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-qZZTW{P%6kf;K?dBxiB$M4-jHpTwH;W|eZBxQ>DM@K*fJ7)o;RV%l)^1|q*unO869Esr@K=yP;xB-Z_y<Tl^1$yv;@IBt%y`F5LyE+Uy)&Nko$uV{oP`(knz3rEueLi2kFy^uVeiIDr?Yan{$|_0<v8T;MbJSxC6k|cR?j&KJlhHNNvPWK*@;8O+DfvBj;v(St-#wbJy>&nH+C)0d~A7rhg9zbeiVx`EvRN6r?#N3kcvKDsr+&qc0d^r*tbI0I`EwRjwmz>lc*?kY}2=naSO$G-TE|4^a4M&T;B<kui!&{u(laR?x9a=*;`WvT9KjNga-a_Z7X)nA>6B}x_;!CUeNo(^$*jnE1-OuQfWfX?0Hrc5r8_W;hFAx1Govb!CL58HmPshjvu@68R|PvY8@sAN3Q3rrGApQOVtT=*TmM9x=Jctr2^kjvAceZ_EyuE#zQ3*xRKdQep`Nw7E~w~ReurSQHXBLeAyy%nPB=%L}KSO)|X)J#0o9Xb3D^Ucq?`hjEpS;^x-O}-ZUry<@5<^l}oF=Pp#f@!b8lh^ri8h(1wt^h_p?Gncetf7m>zbml}{lBnD(yqFGu?f@T^yOl}#x4^!FEkDVx5I~&GPn|jD;IWMYJxCOva$awP9c#AbbNp2Rr42|K3AUHwIn1b||#v#Jzl;wkg8~2V#EqjYP3Q){>*YX5z0wFV50y9B4pe!;}bSlLceO;zO(XZzk=AlVQQG;o~4XT5d7*}k9_O8L)^9Ia_LP(8?&4{F#paS=3zFD@-f;#<BL_0683T(hcjzg-Ow!Poc3U+9`CPqDHa2#BM!5F+n86Xa+-}8bX+zIS55~(sq;(lK3U-m8U-_xkTXZf|2AmOc%yfj8l6BY5fx9Ix4;P?bf5Sv4GQJYQ}24QkH!@Dq>N#ZSHm!x;5j9*ZEfOlYylaI1oh`B788-Ztu0_a|e_#;kylpPbk355H4lC(INZz6KWd$bZ#spGy!)SbSkEr^>rS8Yl9LCp6ETGCUwCr9c?lThdHds@#+us~W|Ju?LOR)J<gtI*VjU3Ijva2>h4XFOHU!FIY(;-1`eDaR+9|4MHD^Y9#5;>;IOa0uXI`M~vwiVv+NZWa=!7%q0=KMmIh0@u+CjdBs#C%0OW{ntX+lM_PNWuwG1jQCd|=O>MKPVQ3i&Qaha+K|$HVVEg6S1S}bQ<jf18z7r`$W>vfu?EEM^-Yk^H$~YIvMh+N(TU~msT-5=<f#cW2Gh1ehmYhCD#;EPMur@DS*?GkEN{bH9O6iy{2{<`J^N=6kq&9YDyV~Qo8&XTR?qH<Zo4yE81cL94Q2U{#;}Xg6d=Df$gd6fxdE~SnSn(`pAiQYgytuiZo6A3ux@*cvk_Mf-r{ci!{2L=(-cN%Tuuw4C%2LHLQWvrz@?xH3aVg)8tpQymYGyGP%_M9%`lk#Alff34a#^ptT7Ylh9ONjJhvdtL&k5|#fobKio;ubWXGT+)5!`CutAIYgr&B0&k))JyJ(p@`T=(&lY(^9fO*;Fz`RkonF`7>{`0baQh?yc04N^=1a$m_D9zE^4tHCUQAfTVvlK~3O6GlB;zB*e3SMR<K}yWQ`!qdT;;=ojlJ<&~bnt@;->ZT($-_)<0jZ6e+?eZ%{^uB1!Lo|_pF{-Nk`)<2QbvTl#08?96e%^aG<vVgY0F)I@RJHZs)CL@SlBh5I$W5N`d?$x5M7{{pFxRUsEE=uKR<3fYjQ1<Dx-8U_mfha%c^hrHcVWqHU9(X;x+I")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
y, x = tensor("while/Exit_1:0"), tensor("x:0")
gradients = tf.gradients(y, [x] + tf.global_variables(), colocate_gradients_with_ops=True, gate_gradients=True, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)
stopped = tf.gradients(y, [x] + tf.global_variables(), stop_gradients=[x], unconnected_gradients=tf.UnconnectedGradients.ZERO)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y] + gradients + stopped, {x: 0.3})

# program: nested control flow goes out and comes in again
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-q}rTW=dh6wWqInw*v-oy2J}NptIsF0}C)0>wftO<QP78mhEZfU1~{y=hh$r?NM7io^o~As#>=gm?#j0OEnmkAUBTgoFeVAZESZotd56rY&v7i@lebbG~!toNs5&fmyrPIpHjvC=~bKjxLTjDo-6R7LVUtc&<==#`DlOr@#hl8|}GLb1UA)X07Tq>^;y^4es3X(5`|N-ZVGd@TSxS&%<DA-mm+C@7Bt<-P)Fidd_avn*l#34?WS#y^GLip)NbOzP^4ME`!xVaNTYA?pn>eUgRh3gFQr1!>g9-?%U)Mna1k22cf^RSr1&l?lr=<P=~(O{F!Fczgb7U(Lc6YIE~OAfdO*iSKYuXcf>v3R=3sk%C*hPTYmj!`_XQ&uC<|zKySHHbDK>B(1&`-n9>U^cp7?J^9|3fqP~k&uO9fp9iq=PYXSDOHvF15-}aNlUEMZ{-POOiyRRE{m8>p!H=cIB9uRwb+JBf86<Xjo%a!ojtp~({t{6+VJr2XS+=g4Ld9|`nX1ak-#-UwfU>^inZx9bhZqB3ONM`#tlooi~0c^ozjQX+@1F*I=YOQ-#dm*;^ve&ptVypd!Sx?~3yk#={VyqzquuQb<N*n;ou>oxnp#hOB-YlG#NGm(kpja@RgT2wvC9m0>ztdSqymyt+Vp`Q*@C*Qzf^y+6W-Z2?5^Bv680fs%+`L6JlMsxrFe4Fe#3-+}{GhUddZT|{M@ke8nyDm!M*yLrD1hliSc_3aQi)Sz`Mj@H8Z3Jz(J%@l2&FZY9e66%5vLfFY@GIzL*4T%4Dpi)G&*gF2Tdnh@M0WqZna7mb#RrJW?EMZPC|bo2lbq(R<9Rv$_~tGqR^LMACm|iN$eO$7kp~*;yCgU72Pd`9OH6%0*$kh`HcR|f?)v><r87uwDgi)uLeE5!TX4#8qs^0Q(~f>H+gGQ<RkM0o>0n<h=|i*!4*L41fGu2s-WFWN*Chn5vWP@6P75a))!%fdo7Zcpa}xro)mFO5J*+fusxJe42Cf@%1{hTW$*Av1wxapqF%FQA4xP%0!CwU&4l7k^SUKOC&9+j-B}ow3E)U?RAwGaeJgwxa0HlNmB}~L;3cv><YmTWD76@i2&j>-!G0mTd3wA%lwI(ZB@@k2rAoDyFy}dTnnly1kjxzQwFTn}jFdbTQJ|&J`w6lp^CL&6DnDb1T7g<4uO>UNhRh==f>rwr&l)sJcYQZtOq|A3?%1jVm6>?o;PY6ZUzK;U5)@6JQ-CFdL_$^|fR8Pi=_z(r0@UcHD{CiwIRjH@Qs7ILuRphB_6W4Cj*u*nEc?j>(j3g7DIFw2<S)xGN$6aOoF(;FU{WoNqxMO)BUpl8m1QSK^AoFTjb^gH0ePwXnDRBg!760b9Ue@GV_qVsZ<4P&w?I~s_~qxNQ?MZ;m5v&;yK{lHD}!}F>2j>Y0dX85*=jne)POXvVm$z_!n8t9GYXP`38iT*BpOWsS50Eq8L@gxsnBJZQjEM6)`5Js(vrpY+p>gg%X@pPhPp3r)$l>}fW&Hi*f@w!wQnq#HBLzuSRYLWkFa0zn5z!MK{Tu2Dk>R1v0z4nlG^}vDqZ4Mf~k^asp#mo58qlaXTn1_J4WbQtoP^S_+u8t#Tao0<FuGH2k@Ql;@~?A4rU1IBt|osnLSb$l1P05j-jK9NKMNpCqq>>Ghdlm^^lHL%9N)=%Gq+6PI&0K{E<4BLzG-D%WAd{CXEv)<}^-*KHM~>h>dB?822coF&oXsG-k~FPtur?51X=$ZF>}VRMg};)_m0^hqfzVI$fg2xLYjW$kNT|>tH@Tre$i4rgU>gb_P7Z?FT3q{$k}JjG{X)JE?_}38+Yj=IBI`T<6PxXWb^j5dO-GH#R`-YNHYz<;eB9W)Q8z0Q6mJY}G4dYZjIs;38iXN_Jv`Hf22{fw(NxtU_XmJ_Jf1;Iw)w?;MP0j*&rSbX<Um9mIub0mZYxF98z<NEZOl@g-Dl=|}X7{z}}qNR~w+Dg$XJ0#Cwl250t5+*pEqCI|LQ7V=o!S7ThZSMIFiaf^&|(}2Q3bKQL(T5}g+IB2+jJ#1T-Z+H6FO;kh$I04<QQUN8MXxta=oJ)n`zEmT+R5)qPeR;Ign2b3ceQ*@LcNG3P0<sV95R6&&5MQn!qS=01sZdIFQA&kH#zt~Cz*<}?T>7CG5|~`0m)s6=Wi#@C69p+zAgGRGk>)R*6&0zd%<!Jdp!NZ8AAjq_5IbcUiaCDZNF#}i+b<0;im!73Oy4_@ZXp(gCr%8qUB@5;XuFTzkeDSm!$Mh^dX4k-h?t7xsqvdm#+Ww=WYFOZI|(vuQawzACfUeq(6DE2$adydqKRDFy-jlQ1PyMK0UkOQP0Qfd6+Ty1(z&ws(=_^i8q~Yeb~=yBYLFzU#hw#MZRt0Wq_iYn7NzlW>F?c4vZM4zHyw}hn&l-m^c{t%0yw`{;YeactY@b+b_he^L6CV+_R!(YqeLQo>}bC4WX=K2$3JaVl6%q)AIO__1;ulRH!UWf^admCg7%&xJuXV0aYfrJy=>g_W7WosygOt*J3UagI%F=%Jb1o(BKphZE3)ID<d(^r6<K<($kTi6k39N452j;io5d#8{S?AwszwZ9G)>8baF{aA7Bz8p=?h>uPSpe?uO^iJ!MhIe1Dfi;Tw~|8JXjf~oYGZ*<fszXRCEaCIvEC4ubcXnBQuh6s^+C*JXg!JQDj+li%s`Vnx1+xVN!cs(Zr$~O_7PGbX5W4dj|{+n}TV8lYx?pj~FEvA1Ecy=*wYb#H^taW*!p6)W0(}FYe@HK?bj=nQ%qNglm80;Ln`W6X8#}eRMVY3Y#4<W7(hN81^=?-v2IMh!4<GHnTFu$a#|!Q5N^0b7tGj5r7;f#Irek?YA8Knp2)Elkh7$_a1;GS?%|8cO7&Oi!|>GNwtaO{w(rRHV<W^t$T=H*3;<8$ii$6pF0ix_f*;Y7w*P{IR")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta, import_scope="a")
y = tensor("a/while/Exit_1:0")
gradient = tf.gradients(y, tensor("a/x:0"))
again = tf.train.export_meta_graph()
texts = {key: sorted(again.collection_def[key].bytes_list.value) for key in ("while_context", "cond_context") if key in again.collection_def}
with tf.Graph().as_default() as graph, tf.Session() as sess:
    tf.train.import_meta_graph(again, import_scope="b")
    gradients = tf.gradients(graph.get_tensor_by_name("b/a/while/Exit_1:0"), [graph.get_tensor_by_name("b/a/x:0"), tf.global_variables()[0]])
    sess.run(tf.global_variables_initializer())
    values = sess.run(gradients, {"b/a/x:0": 0.3})
    frames = sorted({op.get_attr("frame_name") for op in graph.get_operations() if op.type == "Enter"})
result = values, frames, sorted(texts), [len(v) for v in texts.values()]

# program: arrays in an imported loop
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-qBSUvJz*5Wmgk(#xbtE}NuDS8ZtnRPCYk?i^Z*0hOdJG>BG^gdib=<(}QdisOrHCzn+40tksG9{3hWydlIJMIgaf;E_)PYy0-ryWacPYsEdBy|XjF`Li>#yM{~UvD&rT^=nma;V5}o_UkLlnzp=i{q?GK!?y94Rd@r?F`oFqHS6|n!?kR`JOKqOJUOuONEMaOK_S>R>0nl$!4t)Q*$?57;t1S<>1M_8oX{~{<H&RmZCtqB@PbeTIS++oa&8S55gv_Xmx{UElUuo5?pOE_P!q$p={x2_*WT7d;Tf2q7WlShc;-GO;aqu|88xQISd=hcZ+M~Uc(xyLfCt59Wi<$#9S@HsPlB36wzfP6Q}o5L%+NLx$dN0t%EQ1m+(v!R@pfX;DL`AXIdd>()Lk<OFhCKHQ6By6CcFw`&5CcE7A~$^wii0#3Dwt2stkqASZVSg=(s!u#l~T1w7k!^5nvT&gV1*@8i&Aj>UJdv&HA1q-1+hu7VgQliDEtuH_}lKZo|9+!l(@Zf;xd{1A+X5U{XNAr#F+~W;7zLc&I!kY9G{OjapC&c74a&Gt6TrF!s%0505OO$jo)mvX5gkO8^h;9miwSx$-Pb+OF#y1Y9P^)*>IxdUjJl%tb3_dscf4KOvadvb~_;ull}uf+tgh?G+;WFQz;-y6)PhZ<vol+c)C8ijwdGEIM&^)oB9TuDws+le7)uc?_qm6Ivxs-3Xk=Q7-4o3osMLiVZW;%!_C~axn#gM|Bz)cncO&hJNJ5fvm`B+D>dKUttR_E5wJ*+-<nhAL@X~+&}JM`Tb-BF7^VJQodu<NuL2FeTS%T&i}J~?!g6xmA>ii#Mb$tazQX#kny!sbU|`a@^nM8Y&SIfL_+W#QWi%Hg$o<egY>YP^vny=!`d>y=$2!}p@$z3=nD1}X|ryIw23H4+beiZMJ4IBMLIf6+W<-TG`-e+yE}#(P<U+njX-%uILqQ)TAN~Lgz_joALQU?x?7|a(HbA1m-gzJoqFxF=%v?TqPgq1b|v<=?}Yt=iQV<6Nw^R{NE#|Sq0r)~NAIQ=#>TbF>qUS^KD8_{ZywJkg7JSO657Wh4fpJU>6@-=yM{yI&CsD>wDJH>U^1mX>ZpkU$>McUjfPhJ6%uu8O!u^~{xsE|rxo{D{O{X-RM_!@q}PPBARkbqbtcSLfWADSNF(roxf4S~p-iyE0F!wIno(=R@I#=4rz!C?HJ+xx(*Y9J_ib9MqtQP}`%X%HIzewc311_~%(CT@3No`;=-FlKWteJN(P$jd;-DvR_C`|9!KZLK8ErP5u)d4OlBejd1jVhq&~9jRfN?1~zjHx&$gD_E=}I$vF#$ShK;?^V4QF5uV_Aby%jnS5I<%+Pp}`8%!EQ0B`;4HScl$iN#u9<CQun!7NeoPCn@|X99R;<t;5)2BP0OmBv>Gd!{!B#cy`kTP@iq=FtXkG~J9=$1(wex>-y&E@CQ_YggKi#lSDnd_$oUSut#%^oe4#5lZ4K!yE;^QU$8T>TsrfENIX84sK0(mS1!mI_$CoZH48IB7W~s4%=;HkSLzi?~Z!+Cx6ni9s&q1DJZnr)cJXaU=RFy;lPx3octAsnsEx*NNDV55`0mw>bC>-D~1XnWw``D)@W(c%oaF#|YeT#RfqO=DYQ#Bsv&dog*h2IejYD;?~6wWPOYp#bCLubQHP#s$Eq%b7BAM#%JCa4c6vTQorcp`kFmeyqH{<DQ+UuEZ)yT?w5N27ltZ1dcSWw!rEOw{&-S=zNZvdFF}*?9`V5iF%URHlp38-%nmBqS+8h@e!tUkm)O3+FO=d)<+HqAD*Xoi%m7LqCls1V17;qgKW4*j;@leXIoO>Pz~D-NzdIg5afYD&IB3-T1aWt02k=(7|&lF@zg#?<g<G*VEQ_^QC<88?>|zv!QP~Ui9(ZIBI=`53q)-a1HWJy^7o4(n&Gdw)CntBYjHOt2fco-_W|Cu!e;H1pEiUZvd)xRf0uSE{UgA3Y|XA>Q!Cp+<J8_6%0C>O4qeC*7WLo-;WEQ5A-U$`SfQFDlOebDM7gHP(nLO!fiI<6z+X8ff@^fYaqD>l53C&4PbdkR?sv~<5xGXJEC!HzAhlHi#V(?S6a6f?i(XW9Gc8Q5BSQRg7PgWx1UZE8V^+Kt|E_XAYV$V8H&uKWq2ZkyPtBY$fX{~V9Ii~0}Gw14S4LJBCqr<!j~|<+t4B3z=gTk${Fb(%h@T3v&Ux@+A_@HiVXLT8-6)ccvz9u_&hI1oOJ@<$<#9*JnFPniY*5BN{kJ$Gi=D6VMFc=OSfQrsOJ11hw?4J")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
xs = [tensor("x:0")] + tf.global_variables()
names = [op.name for op in tf.get_default_graph().get_operations() if op.type == "TensorArrayGatherV3"]
y = tf.reduce_sum(tensor(names[0] + ":0"))
gradients = tf.gradients(y, xs)
step = tf.train.AdagradOptimizer(0.1).minimize(y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {"x:0": np.arange(6).reshape(3, 2)}
    result = sess.run([y] + gradients, feed), [sess.run([y, step], feed)[0] for _ in range(3)]

# program: slices of a table in an imported loop
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-o~`TW{k;6poW7O;37Br<bK(7A*lGu++x!(xq4n+ZJ}&A}Fg(=>tL=x$)4B>N>%8x9tPcA|&2G;*Cds3O|J(z#l+DTF%&+jK_7-idOYy=6KHe&iw@5G%BsN*7}-h-FlI{tOnhCtCqETxc;H(-lvrOx&nQeqfO?sh&f*8h2x!4QvRgphmlc(vKw9WDJhzou><9VxVimtRU=hWtXA+UHq1i&_wpg$Ht`>?mw5ew*PnR(g;!y#P^jZ|7cX-Qz6OmF*mnZv9C&o!QU%RJEj)4p>UMnR1h+`RSb#EaAsy_YTw@NVx;;N~m`?-#75Gr4&8;wGhd!w!PhF#WRy!`>G^8D`*F9$bAt}DA8H+HBH0C-H?Ie=;?j&e?F{DMPbh@4sh6JEWDtOY~r0_meXfvRWOR76A^&=KtpuDS2eFP=uhNSk?bGr1X=eaaU>t8Zn7s@W!^Q2aNCH^$7HLOGJ?1*`^8M`RQQze54Pfcx4R!gK{YXz`jCUvaS%60LQI5@ox=;DGg!5s@f2$7Hc2u)p%A9@-FHz^A{UH<O)5gM-`%uq5`V4?2>j^|OY!|<dNG5n4cUjySUfbRlya^mSFvXJnM@0?pi&m;Iz6WC+H9D9O5)o2U`?OKAy0EH*Q1YgqN5c4B`=xMX)1D3nUX-6F90Ctf<acB+L70SdcxH1VZRYiR%ha2jc<)^`?Fr9q*1r5XI#lWxn^z)RItHPrM_W>jqGQsb9T4P-iBDHx3W(R~`uaA;36~vpK;t1agl<hMXb&p6Td8#rptYieeF-)XIAfz5AQtBWa2owodG^*gQ+Io}(&A2<1undcYWF>T3a8Jk(sh&!DMY`RR=J^2X>LG+CkJVMs@}LHfMZ7t#E1f#`T;+C^Up3f(sUaUy-g4c2OV8+`rzJ_~Peh#Jey4R43=dMe@OaNhp-PiDzJis65=H@Yu_=Te>++S;Jth-R@t$R608BXNj3;hEB#f3$z}q7kBD{oU8gZ6i5|e^4d^3)pbv?5!3$x8^*U)SeSm`xxx?hU0ki(ozx07X?uk>64B}Hkp?euY07)P`aZ9O~+n19^iX6c+b;c;wYRB6X|>3OVD9pHc-GGCB+6Q7};$NHf>ld>mLeR`&FEEu!c(S3KghMzPTt*mGZyuDs-1~LL}+zfVwQ$BN|BO2^m%{V;%XMz;qcTLn5!H`tNo4%M4r8FDG3VI$YZo)n0yGRdX0ElKUiDq2Pz~mm+@+6F_AorQWYmv)N;&A7^Hy41g^<V%RV{Yxn{l7Wv9p9hgSctVfe(D*U$>P~oXPs;2;2q(a#ceXk!D6Gz2Oy0PL2Xe<+ova_gg0G5r4Az&A5M=c?GG%O9!0R4>@hb^5}e9Xg~k%4@lwywrD&<;2INf~WJX!)vi!>m_yF>!i|pAnHYxW#F)BPdXAzm;cU@`jQqZdK9RG;d*7)O0uO4!4l&U{#jU8Bs0-WjjF9V#{lb;A7v4{z4P@=X;hC{wyO`^{>t@+H1Z<`xh<G0B{Ac#;RuPWr<3j9-nyg;i1*08!dAt3AY2w|Ic#yPgRozf9kvuTZO^Yg#UFoX$ZEKT^BQ(^@-(!-ym4`xB!P((mR1T5!eDDE%i)C1hEtJ`u%>I5Vkf>LZU0!mPPEqO@8foeE)*%CSq#w)3`*l6VjDSme=H+ChyBp-2I8zxPPn2c!Ibqlhyn0aZZl^Td*{bhPc^n>w5svB>pOK$PoBfHorV%&U@cxO!89#6JpNGN1XsfLVEG9sGD+k@yO<FG$dBl%f2k{b_U>PAWZAH-qV&j")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
e, y = tf.global_variables()[0], tensor("while/Exit_1:0")
gradient = tf.gradients(y, e)[0]
step = tf.train.AdamOptimizer(0.1).minimize(y)
feed = {"ids:0": [[0, 1], [1, 5], [2, 2]]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run(gradient, feed), [sess.run([y, step], feed)[0] for _ in range(3)], sess.run(e)

# program: a GraphDef alone has no contexts
# compare: error values
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO1Ur*FP5Wl@%;g}OR1`yZ><DbN6%|Uwv#l{E4V8jS9V0<z*^}2FRN{`(2;CS%W_$~Z!egP8`pWU{%-EMo}gS_l^c4vO`o0**{+%cxCb!%(gY_FW9AFY08v(;|5j<=qg-ebn_$1E5?M%Z{4xE<E*1s>}g4bZ*l;*??4B(X5)y0KtaV%_jkT}{>9g2s8*57@@bUO0$QPc~H_K|gbYA;X!S>AHp$n^fSdFxw3y)<-?rXdcQ~fQCPCI`Ov~Mp%7NF{XjMPaxM|@zm|RLBImX=az2db3LrCf^iSvOW!?VPRJKr#>EsfS!1+_jUpJrY|g!72?Atvg<JC9ZeNS2_gVj#p`L6sp9wm)JK*Yj!b42pfP1NC34j9;Kmrj5kYcG}(d7wfjwJ&Uz+eNUs&Cm~fVFs~d9Ji6uTyl%Wdx<mET3UHpXB<=cpv7*o_oDh{%Sm|i!Yjs2R_1$R608MqfQs6(p`<P03})8f+?pHxI8aQfY=Or9s7CC5IzeQDJn09z*lQ@nFnIr&OF?NCB&i!$AV4aW6xt@<VP1+7hhEIZd<Z2PefsaDyJsRnks2&NZ^%tr>^I1T#TEV&VN$T{?+9KwqYj2LH&j2eQ47{95nAqQhz2aPlf?%`@?{iLZS1ShWa82oI~;Mss<<5*Wix??IS-#jW1=|lI3PD%W(&%`H^u`i6xD;VbX-aSw*BW?fH~Wo(4tRJSpk-p%@UmBR|4gyi%p9q@$MTwpfYdr^<yM$&l}A^>5_vcYQq2L@M!54S(0*R}Cg5x(TbqXsYdGo9%qR*`{5{y>0H~h;eByPt!Kv{M0}TZBzL-aB*Ilsr*1efdUGYyaE>AfIO2UQ{u*F5=VvyYIv$>37X@HA$f}fYhwMm-pa&h!7m!w`;%dgr%X|{pg2y<(upM)C%rE5xhSJao*fq#3JomP`4Jbik!|8?x|MZtEvY0<$nv3D-NRya{{kO0yI}")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.import_graph_def(meta.graph_def, name="")
x, y = tensor("x:0"), tensor("while/Exit_1:0")
def is_attribute_error():
    try:
        tf.gradients(y, x)
    except AttributeError:
        return True
inner = tensor("while/mul:0")
result = is_attribute_error(), tf.gradients(inner, x), tf.identity(inner), inner.op._get_control_flow_context(), tf.get_collection("while_context")

# program: conditionals of a GraphDef alone
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-o~@O>fgc5cS%PaVKp;rbSei5GCpXEVXeA1!@lc015R_R8*8>Efa533)hKkr%rEh;m&X2z?ENs#F-m^1UCM*Q(6I4RC{Ok&Aj(^)^JY|yBpoj4OP2+9>1)6{fFzCwm#V0Qmx07;^%pI0%U^qL&xmX)1hNgPpL!A3NA(zd6g(DQ1eeswrJ{$SeJgKe*_dDqdx*+x`=_i&cO?4h8^3r1KV_rbJH19tUVvPeo$_92WoM0c@HImbI414TjIE{+Z@O3z-u5OLeKPU^Q}XBS{dAeI&0`r%W%yz7D7&GrW`~)s>K5H{h=F}woAR~4sbyVJG;Jb4_p-Er%Xb*%63|O>{G)T_TSm=0QvhwS%wD7*_IhlBT>qtH-Nl}=q!V1^c~ap5kNwbA@!XQ9)TEkJZf4f?OW6h?BIg+yAHJmbw=Cj9EEn!KSeQq%4EcTDHfm$i_tDW${InT#bN=jcXLRm3^^%4iXC&n8Z1Qd(bQ+Vq@uuN2c&4%+1NqhVC=}PbeVCGmntEnn-e3j56wzGS3QwS9IiHR0*BC=X_XaAPUCMXhVT*~+HP7_=OP(oxp7=FzdW0_(!pNX12)*4GRJZ6x8Ygh6Dx$ZUCZiem)as1+T|8KNWe$7ivs&6H`8V1)N(iT+&{aym1sYp-hf@==pkoB<m}w@I_%{Y@+&;-C9@M@*cl|?Dm6LtWVS|IkUo<3J}d<uyTjA30K1>@=fFn|RoDO_)K$zbwJgO4tgBk9a;J6mDQR!R{QnjBDa5Lb>34-r0{kxEHvvBJ(1>J2xhT;n+N`UI?sQ&sb(JVTNMccR)Vi9_8GE0-LvY!!Bp4QCm`YEm_Jm9w2oomzZXUqPisMSWZ<Y(LR-07?!xsWK%bu_yxYCsqT~$7iM0q|TnK3MMoye0^T8VkF*7eMP1E#(N&;")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.import_graph_def(meta.graph_def, name="g")
ys = [tensor("g/cond/Merge:0"), tensor("g/cond/Merge_1:0")]
gradients = tf.gradients(ys, [tensor("g/x:0"), tensor("g/w:0")])
with tf.Session() as sess:
    sess.run("g/w/Assign")
    result = [sess.run(ys + gradients, {"g/x:0": [0.3, 0.5], "g/p:0": p}) for p in (True, False)]

# program: graphs imported into contexts
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO2Ur*FP5N9a|$DAOy93HHiAYy_|;My8A_C+}*hQA?b^huiLTA)d}yWABx9yQS?UyO;behT9!@Ee%;CHxR>+v}g*ZVxpkm+jtkW_~lXGruj|l1J4Qb#+D2s%PP5xzo6}tZB<fs}B|HzHQ@QWsm{&aB0sq8}@O_wd{^uf`a8;v~4`BApcMI*!2JCL%wc1R~J~_MJP2|O{@0&-0>R6cr<(x)TTdq4A2YT1XP#^w7S7t!^6c5%Wis(cR?mn=DM1g)L4_llt~&fF<68vfxO+ZEyJ-=`sqkEVJgr%KXzQZ_N3M9dbkig$m9VNV>)R`#!xsj-BTNn*T;$y9@5beY(Y8Yi?2YBF!4koAh`mgM#D9`T?|mfqi(CAKkmT?#6-5<^z05U1P_u4SuR7#=^71xZ#F$VyfhT~m*gdY!;X1k8%?@kf@f3K!Rp(2cF&XNV7hH~OxLwt!=XT?=TMJ$coyIz0?dbFs8K-EnY`)I<;R2uApLo`@QSI>j@>!3aUpn+OzBA4%`Uaxh)|P4(akOmVHjRBxdtBnTtnA_G7ysI+)!h$aq_Us^vSl}?ba@$rYj%t$d~n<1nY2>^M^<Lm1N38vcPfrpg{T<w_B|?4T;W8v?DwUbRc{1v`|sYXW>NvN&RofgD?kGJQEB8?*h(5m|Bb}IJkkRNWK%JUWYkc6`~p{JYsMoE=jS<jGz<=fl06iGXe*+TmxNbi3<dKOv9U&mGn*JK;Znc)<N(LCRvZTux42=H6luuWYClBwirhzr!JOuPF*5SnN(QaaE_8ZKOqom{2kq(<c$9d1=b;#L+}LimvBW*%JdWlP{klGv<69iR+)ic?>QbG@mC@m#{~QV!#lnK#mqI-61=-m46j(Hi6y%9nSk!NTNl9w@bCWl2CM@F>I|{Rfskx2S*l%-ito|F=kf4UAUb6HZXCZIhwo$ko(<jwFDBFR=}JG(=nFts=8^mr0jCAL7IS+9<4I+FxH?O>VFsKq>TQsEx`O9<U_M+-LPe1a?Pmf1C_rxGPr)pbX9Ps4D_VwAbww8qwyxB(S=L2aZhjfbeooNjE7`mCFG?ql393R4;+%w+AqVCQIloC+Ku{KeOl6Yl-zHqDkyOoR2WoL6pE<Z7<Lf6!tb*{SQN&`E$tvJ|s><C3RB}y3*_<YoQ%TUJH^WDc)xMxT_Qmb-E&5W9=a|ykz)3#T75NS7A9cc1)E7h|x*s^^hfx}rPvvZ=m__>yKt~}Z")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
context = tensor("cond/while/mul:0").op._get_control_flow_context()
other = tf.Graph()
with other.as_default():
    tf.multiply(tf.placeholder(tf.float32, [], "a"), 2.0, name="double")
seven = tf.constant(7.0, name="seven")
context.Enter()
tf.import_graph_def(other.as_graph_def(), {"a:0": seven}, name="in")
context.Exit()
context.outer_context.Enter()
tf.import_graph_def(other.as_graph_def(), {"a:0": seven}, name="between")
tf.train.import_meta_graph(meta, import_scope="again")
context.outer_context.Exit()
tf.train.import_meta_graph(meta, import_scope="beside")
y = tf.get_default_graph().get_operations()
result = [(op.name, str(op._get_control_flow_context()), str(op._get_control_flow_context().outer_context)) for op in y if op._get_control_flow_context() is not None]

# program: an imported loop of TensorFlow 2
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO3-A?016pjhWhC}$9By5=NpV;lHSOV;H*`?O1blGLKAV4d&;-acZP2z%8uY(e21C@Hy2WWfSC#ck?Xr)S(`Ubsk)z|3Q&Uk)24g&VZ_KfFz=V#7*a}M0oi;b0rxneZ%oA_h7+cKBemQU;l>*ld(G#(ml^zZwigLaN4UwU@SIqi6Dr>jpwp&eYDIcUt#!a?uU4hL2a9>dIF)%D%LwY}yW+v_{1@U-Li0#T+0h4^QA6G|G&>EpTFZyT@&+5o|!-F59_&pB*}LUS-l6m^|;)3;xfDI&(})@NX%)$s${^__0`7knrUR-g2G?un0z@f&LcEL*5oVVZonZ98z9L%5G3b^V^x^g69?T>m7Rx&_+jkttOuHd~(E>mh&=Dv~wUX9IWu#ldRVvD>J$-FE!I4K9ej%cRy|veOTo?rIb#MY!@hqT!m@yj9AhoTcU9J1Vy2lP4-fFU&)Q9=N?`EBv<ofOwFjw&e8%sGQkd+w&Z+=@Jn;aLGC}RtNnqz}H<8;W*4SREaSMr>^IOXn}JcKp&<!^-Yr+pq-CUtKC@b3+nZr(>)=%6}>PY2|SeBC(E~~2Ie>U*eB}7V4pe=L4*#(SfX3Fra)_&%%KGD8I<FtyH2mSdNJHbTt4EoT(+xucnH8y(0KU7yvJBjlDGx;VS4zZ(>WuWNea?0%pt;;)XG-_H)x%rV*D0$NKh<z?<EOb1%zg!1m*<cm|78|lAuz2G1gfcH2s4_!#q?Gk~K6<_?YUTM~pjcf_BSf;dunJq7X5SiOq^eGeHfW(|ohrZMLa1M<Uu~`>Me@Oe8p{@TA>7Y+%U`%xhw%zo2<a=9}hCY<SH166U+w3Q-%gV;AP)Kd$dfWOZd*a`2-j!U-gnR&-q|TM{_s4qD)mMP~U)gG$OG#%rnkxh~CJ!K5$57zvb@jvf|}E~CG%L~kV$R7C>c$;4L@;x0XNu>ePCX|M3SyfoIz((eZiGS)~}UzE7%&C%X=zBHgJ*puenl=~0>;^!m|R)j^Vf_ZW;VM`2kG|#am2Lj)UmZrE_l?bCXYx?~}^E-f1U9Fk0^@gZh!PyGic;<d8Zo87d=T+|UEPfy!B!SCoM=Jcw*>neHBuvVvN{?~c0_NmP5$ko|L;1bFhcjHqx24teh%%4A*Py0cL{H1GQXO$nZeFbYtU;Eg)C{$e*R|>j$M=yK@>i~p^5l^fau(UGR4%c*RNh4_>tHa?Ae*kylrY3{qVdJSC{mVj(uOm8)<m}6I(Gv!9zL;xvX}v%h>R8r5WTUWl69EIPiaY%q`Lx&`p!}#kspBkZ&VNR7SnniR4s-aY*z2FXj!0cCo*J-W6a$p+8J<LBh>Ot%`z?Wh3$|^^8|S@U;4GOxDAz{OIqi!@g{9?+=2H{0~xRa`GIAiq?g8}m^&<^F(<Xsma(oa{#}MCA!6vyGWw$ozn4K3&snHz`mERx5NN(*unbG8zbs>u^O20Ed5<k)=dW?0LA4B;Ekgn#69NE80FY8hGo6tFlZx9hh8d0-2J;F;uf(BAO&ngH%w{@aD)Wb|yRA$sX5a8$mB%K?t&fqKF}eODa*@?p%)nu{z&wg3$gq+s<yj!vIVW?~^x0>AN!J7UF((~;W*3<vgCs>Ee@=4uE}KAEn5Z7FO+z1unRFm$((!*q^iL78Z<{E^=T#LIN%VC2Mbce)4Usfggl<zAx}9GNBlm(vt){5-ue3!OmO@>9k;;Eq9WQGgo}rAefhugONmF!@oh{|GIpRVkGVhMKZCO?(*S#FH<QOW8UQpMuM#j7;dP|R|e96mEq1mvIQJKjQ(s@E3a^Kk)Xi3UGl)38%s=Pc<=jGxCOx);l`X6r31r-")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
y = tensor("outer/Exit_1:0")
gradients = tf.gradients(y, [tensor("x:0")] + tf.global_variables())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run([y] + gradients, {"x:0": 0.3})

# program: bad contexts
# compare: error values
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-q}rTW=dh6wWqInw*v-oy2J}NptIsF0}C)0>wftO<QP78mhEZfU1~{y=hh$r?NM7io^o~As#>=gm?#j0OEnmkAUBTgoFeVAZESZotd56rY&v7i@lebbG~!toNs5&fmyrPIpHjvC=~bKjxLTjDo-6R7LVUtc&<==#`DlOr@#hl8|}GLb1UA)X07Tq>^;y^4es3X(5`|N-ZVGd@TSxS&%<DA-mm+C@7Bt<-P)Fidd_avn*l#34?WS#y^GLip)NbOzP^4ME`!xVaNTYA?pn>eUgRh3gFQr1!>g9-?%U)Mna1k22cf^RSr1&l?lr=<P=~(O{F!Fczgb7U(Lc6YIE~OAfdO*iSKYuXcf>v3R=3sk%C*hPTYmj!`_XQ&uC<|zKySHHbDK>B(1&`-n9>U^cp7?J^9|3fqP~k&uO9fp9iq=PYXSDOHvF15-}aNlUEMZ{-POOiyRRE{m8>p!H=cIB9uRwb+JBf86<Xjo%a!ojtp~({t{6+VJr2XS+=g4Ld9|`nX1ak-#-UwfU>^inZx9bhZqB3ONM`#tlooi~0c^ozjQX+@1F*I=YOQ-#dm*;^ve&ptVypd!Sx?~3yk#={VyqzquuQb<N*n;ou>oxnp#hOB-YlG#NGm(kpja@RgT2wvC9m0>ztdSqymyt+Vp`Q*@C*Qzf^y+6W-Z2?5^Bv680fs%+`L6JlMsxrFe4Fe#3-+}{GhUddZT|{M@ke8nyDm!M*yLrD1hliSc_3aQi)Sz`Mj@H8Z3Jz(J%@l2&FZY9e66%5vLfFY@GIzL*4T%4Dpi)G&*gF2Tdnh@M0WqZna7mb#RrJW?EMZPC|bo2lbq(R<9Rv$_~tGqR^LMACm|iN$eO$7kp~*;yCgU72Pd`9OH6%0*$kh`HcR|f?)v><r87uwDgi)uLeE5!TX4#8qs^0Q(~f>H+gGQ<RkM0o>0n<h=|i*!4*L41fGu2s-WFWN*Chn5vWP@6P75a))!%fdo7Zcpa}xro)mFO5J*+fusxJe42Cf@%1{hTW$*Av1wxapqF%FQA4xP%0!CwU&4l7k^SUKOC&9+j-B}ow3E)U?RAwGaeJgwxa0HlNmB}~L;3cv><YmTWD76@i2&j>-!G0mTd3wA%lwI(ZB@@k2rAoDyFy}dTnnly1kjxzQwFTn}jFdbTQJ|&J`w6lp^CL&6DnDb1T7g<4uO>UNhRh==f>rwr&l)sJcYQZtOq|A3?%1jVm6>?o;PY6ZUzK;U5)@6JQ-CFdL_$^|fR8Pi=_z(r0@UcHD{CiwIRjH@Qs7ILuRphB_6W4Cj*u*nEc?j>(j3g7DIFw2<S)xGN$6aOoF(;FU{WoNqxMO)BUpl8m1QSK^AoFTjb^gH0ePwXnDRBg!760b9Ue@GV_qVsZ<4P&w?I~s_~qxNQ?MZ;m5v&;yK{lHD}!}F>2j>Y0dX85*=jne)POXvVm$z_!n8t9GYXP`38iT*BpOWsS50Eq8L@gxsnBJZQjEM6)`5Js(vrpY+p>gg%X@pPhPp3r)$l>}fW&Hi*f@w!wQnq#HBLzuSRYLWkFa0zn5z!MK{Tu2Dk>R1v0z4nlG^}vDqZ4Mf~k^asp#mo58qlaXTn1_J4WbQtoP^S_+u8t#Tao0<FuGH2k@Ql;@~?A4rU1IBt|osnLSb$l1P05j-jK9NKMNpCqq>>Ghdlm^^lHL%9N)=%Gq+6PI&0K{E<4BLzG-D%WAd{CXEv)<}^-*KHM~>h>dB?822coF&oXsG-k~FPtur?51X=$ZF>}VRMg};)_m0^hqfzVI$fg2xLYjW$kNT|>tH@Tre$i4rgU>gb_P7Z?FT3q{$k}JjG{X)JE?_}38+Yj=IBI`T<6PxXWb^j5dO-GH#R`-YNHYz<;eB9W)Q8z0Q6mJY}G4dYZjIs;38iXN_Jv`Hf22{fw(NxtU_XmJ_Jf1;Iw)w?;MP0j*&rSbX<Um9mIub0mZYxF98z<NEZOl@g-Dl=|}X7{z}}qNR~w+Dg$XJ0#Cwl250t5+*pEqCI|LQ7V=o!S7ThZSMIFiaf^&|(}2Q3bKQL(T5}g+IB2+jJ#1T-Z+H6FO;kh$I04<QQUN8MXxta=oJ)n`zEmT+R5)qPeR;Ign2b3ceQ*@LcNG3P0<sV95R6&&5MQn!qS=01sZdIFQA&kH#zt~Cz*<}?T>7CG5|~`0m)s6=Wi#@C69p+zAgGRGk>)R*6&0zd%<!Jdp!NZ8AAjq_5IbcUiaCDZNF#}i+b<0;im!73Oy4_@ZXp(gCr%8qUB@5;XuFTzkeDSm!$Mh^dX4k-h?t7xsqvdm#+Ww=WYFOZI|(vuQawzACfUeq(6DE2$adydqKRDFy-jlQ1PyMK0UkOQP0Qfd6+Ty1(z&ws(=_^i8q~Yeb~=yBYLFzU#hw#MZRt0Wq_iYn7NzlW>F?c4vZM4zHyw}hn&l-m^c{t%0yw`{;YeactY@b+b_he^L6CV+_R!(YqeLQo>}bC4WX=K2$3JaVl6%q)AIO__1;ulRH!UWf^admCg7%&xJuXV0aYfrJy=>g_W7WosygOt*J3UagI%F=%Jb1o(BKphZE3)ID<d(^r6<K<($kTi6k39N452j;io5d#8{S?AwszwZ9G)>8baF{aA7Bz8p=?h>uPSpe?uO^iJ!MhIe1Dfi;Tw~|8JXjf~oYGZ*<fszXRCEaCIvEC4ubcXnBQuh6s^+C*JXg!JQDj+li%s`Vnx1+xVN!cs(Zr$~O_7PGbX5W4dj|{+n}TV8lYx?pj~FEvA1Ecy=*wYb#H^taW*!p6)W0(}FYe@HK?bj=nQ%qNglm80;Ln`W6X8#}eRMVY3Y#4<W7(hN81^=?-v2IMh!4<GHnTFu$a#|!Q5N^0b7tGj5r7;f#Irek?YA8Knp2)Elkh7$_a1;GS?%|8cO7&Oi!|>GNwtaO{w(rRHV<W^t$T=H*3;<8$ii$6pF0ix_f*;Y7w*P{IR")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
def changed(edit):
    copy = tf.MetaGraphDef()
    copy.CopyFrom(meta)
    edit(copy)
    with tf.Graph().as_default():
        return error(tf.train.import_meta_graph, copy)
def no_node(m):
    del m.graph_def.node[-1]
def other_scope(m):
    value = m.collection_def["while_context"].bytes_list.value
    value[0] = value[0].replace(b"LoopCond", b"loopCond")
def other_value(m):
    value = m.collection_def["while_context"].bytes_list.value
    value[0] = value[0].replace(b"Switch_1:1", b"Switch_1:7")
def empty(m):
    m.collection_def["while_context"].bytes_list.value[0] = b""
def garbage(m):
    m.collection_def["while_context"].bytes_list.value[0] = b"\xff\xff"
def of_names(m):
    m.collection_def["while_context"].node_list.value.append("x:0")
result = [changed(edit) for edit in (no_node, other_scope, other_value, empty, garbage, of_names)]

# program: hessians of an imported conditional
# not in 2.21: ops
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-o~@O>fgc5cS%PaVKp;rbSei5GCpXEVXeA1!@lc015R_R8*8>Efa533)hKkr%rEh;m&X2z?ENs#F-m^1UCM*Q(6I4RC{Ok&Aj(^)^JY|yBpoj4OP2+9>1)6{fFzCwm#V0Qmx07;^%pI0%U^qL&xmX)1hNgPpL!A3NA(zd6g(DQ1eeswrJ{$SeJgKe*_dDqdx*+x`=_i&cO?4h8^3r1KV_rbJH19tUVvPeo$_92WoM0c@HImbI414TjIE{+Z@O3z-u5OLeKPU^Q}XBS{dAeI&0`r%W%yz7D7&GrW`~)s>K5H{h=F}woAR~4sbyVJG;Jb4_p-Er%Xb*%63|O>{G)T_TSm=0QvhwS%wD7*_IhlBT>qtH-Nl}=q!V1^c~ap5kNwbA@!XQ9)TEkJZf4f?OW6h?BIg+yAHJmbw=Cj9EEn!KSeQq%4EcTDHfm$i_tDW${InT#bN=jcXLRm3^^%4iXC&n8Z1Qd(bQ+Vq@uuN2c&4%+1NqhVC=}PbeVCGmntEnn-e3j56wzGS3QwS9IiHR0*BC=X_XaAPUCMXhVT*~+HP7_=OP(oxp7=FzdW0_(!pNX12)*4GRJZ6x8Ygh6Dx$ZUCZiem)as1+T|8KNWe$7ivs&6H`8V1)N(iT+&{aym1sYp-hf@==pkoB<m}w@I_%{Y@+&;-C9@M@*cl|?Dm6LtWVS|IkUo<3J}d<uyTjA30K1>@=fFn|RoDO_)K$zbwJgO4tgBk9a;J6mDQR!R{QnjBDa5Lb>34-r0{kxEHvvBJ(1>J2xhT;n+N`UI?sQ&sb(JVTNMccR)Vi9_8GE0-LvY!!Bp4QCm`YEm_Jm9w2oomzZXUqPisMSWZ<Y(LR-07?!xsWK%bu_yxYCsqT~$7iM0q|TnK3MMoye0^T8VkF*7eMP1E#(N&;")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
x, y = tensor("x:0"), tensor("cond/Merge:0")
x.set_shape([2])
hessians = tf.hessians(tf.reduce_sum(tf.square(y)), [x])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(hessians, {x: [0.3, 0.5], "p:0": p}) for p in (True, False)], [c.name for c in tf.get_collection("while_context")]

# program: gradients of an imported loop taken in branches and functions
# compare: error values
# not in 2.21: error values
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-oy-%Wm676!nM?OINlY<Cii8f|l8&LhVp060`(b)DFBz6T60EbQysW8Jhq@84~44K^I*W-4xBH-_noivdeA?6zIA`4u`|xBXYA5HN(qu&pr1s1AplFcO4EvJ9M1yhgb)+FwjNxT+%0@&$skx5TKiCxV(0)Hf#=?tu0hjbxmp1@s9|-LkPYA?eQd-g`^GoWFB76Lql_-4~#ZwH?}`_u^zg?Y%(=AfxTgXumtTm2;C`efa=(x9r<mhAk=vyb#80}yqemt-BCb)us#c?UT|sbLDQR!#*uqF2(kKdGVw|6{+e+Ywyy1|?fb4j@~8_t^r#V5ydWgC9>Axd9xuG`7M|e%>Q5Xu2)%HL0W>dQCYAOUsL$Nlte~hy743oXkr1>4t>Ff$DXOM7THUSPJ@^Fb&nA;=s;5J#F<(6(z+F-1r=Xp<(@Ph(K#$+gD0m;8N_=Q8nz8gFFL2yNPsvKT0q8VV;yyAFd<DwM+^@`ko-WIOH!grE`$O0~br<0iuJLUYeGJVr-yXYH6W?*C#k!Hpgr;7bUD<TW9z?ZjJp`YD^4tqJZ<6pfb_8F5`cRMf)-jxb{``#>j;}KOa2?d^sq0XIyRgA1j9%IP%#8p$&`h?%>D-kg=<9=n!NUV{xOc<;>`%v^?+=Ijmk+-*oky;V|LVdKWrnkX_M1GAnza@!SdcXn^>?8)O1#AuGpqtNiZB8hqr$QhTcM#h-&}dV`ylR8%$l_l2lJk79Ie+Cyk?;s+;52EvEF4ZOtL=uUAZl3L-y}U{kwy=n0@>kS%$QT`s<Ox)JgwNdHd4Nt(58)1e+ONqXB1z7L~!i$IY$ymc*HafZ!#UiFGS$T9TEHB$!hF^m_%aI;hr~wI<YAj~ckvtHBiyIR=kHW?p0=$WDo$(IACc?GnK`00W6fTRh-MHa^l3ubJOU(Rmo~4ng6oG-*LmTy(pnd_b~ON?$`OVZ^6!I*&<4fXX7gfemJr44Y)=$WrB8h`d(k;V$T-v2Ro9w*ljhKN(x!WFX-O&YSt8mB2mA1yb<+aSFT(+ZgA8X_effIG%Fv={cF6m_*`b4OUmhcf2S#1Pw;Ob>uKt10s0A8_{;02TRN^D=%a(C4&#WZ`g`~cm|CWAG6yO$>~9|3|32U!4Y56gE=~#NkJ0QPA!sl<MCG3=C26yA7w`5|C!I|1Lku{JJWkW5@&RfN2hr)&eiFCnn`ao0a*fsfJFFM4R!`)Ga1WQ93t{9dbdjT3n-tydCY7Ot8;nC$8mg#jjysqnmntC9rIBYeN6c<klYwqshFYEe?rF3T5=HaO2PlC_#YMiR-vqpI?zM?jy#DhbC?}fmTBc`!7`6Bgz2i4rEi(v{;7ZxSf+Ffpv$&&7Sas~1#&1*@CrCzlVVStTLL%Q6F4F~ki(Og15PuUx`H>~7?jo#wc9H#FZ!aH*1ZTb8N>PY0P=IyEbI(8<9LV(e7Y3T#N|tu-Q1uN=5&iLl!ayD9(xpR@tru6xJ2c1IlJfi?EVJ{_8he")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
x, y = tensor("x:0"), tensor("while/Exit_1:0")
in_branch = tf.cond(x > 0.5, lambda: tf.gradients(y, x)[0], lambda: x)
in_function = tf.function(lambda v: v * tf.gradients(y, x)[0])(tf.constant(2.0))
with tf.Session() as sess:
    result = [sess.run([y, in_branch, in_function], {x: v, "n:0": 4}) for v in (0.7, 0.2)]

# program: gradients of an imported branch taken in branches, loops and functions
# compare: error values
# not in 2.21: error values
import base64, zlib
meta = tf.MetaGraphDef()
meta.ParseFromString(zlib.decompress(base64.b85decode("c-pO2%WmUT7|!vn_U~NklcW<40#!z!kwrU6&>*n5sUtKRiB<#c0whEfVz;$OlPGqEbR-sRSg}BC*sw(65oXO}Adq+ho&k>UKE6y+N>$nM@AKcj|9qbh{2}6JBD@9SgZa$$NDHL-%3G{FU9`OGg{`+hd@`P{Y%F>9%$+aw283_0;9uc&;6Ge1umotWqccM9*YvJ;0iA^_OaOT(HQR`jF}w>q5101XvzM_4jy#A6=xGo17gNVwXb$U$;{{Ptnp%7B4jh8~$g*di<6UC_(V6*$QeQQxnx<Bg2yg=8vAw*oaTBCqu}c>i=!9{gJ*z>BBWGsW>mHwppw|JNVBVQ|cTpeF^7-S{v`{*|KlL-`YxkQLBu(TM8UKI~JOK6abUd*y=TpmG7O`fb)jJ@%mt*=E-iTmwJ>&y^>ddwU{Ch-~udcFa;TJ$#+SY2~IrEv{voo<>T{v^BH49`Hl&@@iF|wR17Ykp`=TpMnt?Bz|rY^LHS~wwDQR|JShUu8}9t6?CMTG0~rUb%};}tjt>GW&In_OZA1Z(V#{d!~&7PO!q5Dn^K`qBA#>e_yPyP!rUZ@IGB`5MyTaB%;yKfLoK{Bf|Hym2rb9$egiyKlW|+xRyPKBqw8Ebc}x#<gWOuqyu({~<$-2f+1_@d`9YQR-m1i#5o5z!9JY8(oc~b7n0Y5RAP-Kmq6?cn{Rcd}iH?kcki?XhHvt9lu-OyI1h0pqe%6{|Fj^zZ>|CJe-h(G%|tBK^m;8l!t7n^Gv90jaB|h0(b}N!FqqNBge|b$@WxLh6NCK2bzQ<X=;AKbV;2fWojI$GLHq!$;d<u=Da})8Dx;mU@c5R4tt{f@JT|n_%T6@Wa=<lSw2uE#C@PjI3OYdtpvV-RxW%x=`~@{GCClQCeyL&Qr^l~n$9QY2kSK5u#j#aUe4{z{6?KXGe{B1@4f3PSQ!pfHP(%>uOESoaLo{Ewc7jeNi_9X<72TW3D6{0#ipHv;4|0_T*@fIWMiMI`I2tZQ^0BH687MH;%zAOaY@iDj|$yvCeuftrA|dgv3+kWa2attxLncCng2~AdyFk5K!rWsj9ba%PY60?fs#p<P_NkYtr$>FD)=;uhJTXrk29ph*y2Imrsp)w4SO!vg8u?QLaBKqMZqOJAcf~7!eT+#jgt1i<DZJS9%sB-D5DKpzKj|@heZNF4=(=cg|y<w7}{+RO&dtGGzn0xrME$<V$WPepC<;oq(hPi_oi?q>2+TI4(Wd@p{kDP#k1EQ{!_ufEAX=%DSGfOc+t!@ZuX->Vqr7;`^fl_k0d$}f3qKnYof>0!YDL-E^gDPeQKhw_saG-wYM015+{YF%rt<a=Jrc$1E|oYY+7ok&g}xFsIgO&=u)ef;F0>~Q3ZZ&_Hi$~6~Ut0Ef*m_r{S+0{K91mO-EW*Jt?h|4)-rqHmv^}sifuCO0ty!V3bBKZ4JK^hOVeNLaJMW)M&6RR&>&vk$V1CzQLXf+PMh=+oD=TimCY-%AA{Ggq|x9J}%!TxFpI-V?k`%#D?>7He_OLX2ZW{0rg}")))
tensor = lambda name: tf.get_default_graph().get_tensor_by_name(name)
tf.train.import_meta_graph(meta)
x, y = tensor("x:0"), tensor("cond/Merge:0")
in_branch = tf.cond(x[0] > 0.5, lambda: tf.gradients(y, x)[0], lambda: x)
in_loop = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.gradients(y, x)[0]), [0, x])
in_function = tf.function(lambda v: v * tf.gradients(y, x)[0])(tf.constant(2.0))
with tf.Session() as sess:
    result = [sess.run([y, in_branch, in_loop, in_function], {x: v, "p:0": p}) for v in ([0.7, 0.1], [0.2, 0.1]) for p in (True, False)]
